package import TomboloCore
package import TomboloLoop

/// The pushes that have no outcome yet, in order of hand-over.
///
/// A slab with a doubly linked list through it: inserting and removing cost a few stores, and the
/// oldest push, whose deadline comes first since all wait equally long, is always at hand. A tag
/// names a push until it is removed; the tag of a removed push finds nothing, so a late answer is
/// harmless.
package struct PushesInFlight {
    /// A push, since when it is here, and where it is.
    package struct Entry: Sendable {
        package let push: Push
        package let handedOverAt: MonotonicInstant
        /// Which of the lane's connections carries it; nil while it waits for one.
        package fileprivate(set) var connection: Int32?
        /// The minting of the provider token it carries.
        package fileprivate(set) var tokenGeneration: ProviderToken.Generation = 0
        /// How often it was given to a connection.
        package fileprivate(set) var attempts = 0
    }

    private struct Slot {
        /// nil: free.
        var entry: Entry?
        /// Counts the pushes that were here: an old tag finds nothing.
        var generation: UInt32
        var previous: Int32
        var next: Int32
    }

    private static let none: Int32 = -1

    private var slots: [Slot] = []
    private var free: [Int32] = []
    private var oldest = PushesInFlight.none
    private var newest = PushesInFlight.none

    /// Pushes without an outcome.
    package private(set) var count = 0

    package init() {}

    /// Takes a push, the youngest of all; answers its tag.
    package mutating func insert(_ push: Push, at now: MonotonicInstant) -> UInt64 {
        let entry = Entry(push: push, handedOverAt: now)
        let index: Int32
        if let last = free.popLast() {
            index = last
            slots[Int(index)].entry = entry
            slots[Int(index)].previous = newest
            slots[Int(index)].next = Self.none
        } else {
            index = Int32(slots.count)
            slots.append(Slot(entry: entry, generation: 0, previous: newest, next: Self.none))
        }
        if newest == Self.none { oldest = index } else { slots[Int(newest)].next = index }
        newest = index
        count += 1
        return tag(of: index)
    }

    /// The push of `tag`; nil where it was removed.
    package subscript(tag: UInt64) -> Entry? { index(of: tag).flatMap { slots[$0].entry } }

    /// Removes and answers the push of `tag`; nil where it was removed before.
    package mutating func remove(_ tag: UInt64) -> Entry? {
        guard let index = index(of: tag) else { return nil }
        let slot = slots[index]
        if slot.previous == Self.none {
            oldest = slot.next
        } else {
            slots[Int(slot.previous)].next = slot.next
        }
        if slot.next == Self.none {
            newest = slot.previous
        } else {
            slots[Int(slot.next)].previous = slot.previous
        }
        slots[index].entry = nil
        slots[index].generation &+= 1
        free.append(Int32(index))
        count -= 1
        return slot.entry
    }

    /// The tag of the oldest push.
    package var first: UInt64? { oldest == Self.none ? nil : tag(of: oldest) }

    /// A connection takes the push of `tag` with a provider token.
    package mutating func assign(
        _ tag: UInt64, to connection: Int32, tokenGeneration: ProviderToken.Generation
    ) {
        guard let index = index(of: tag) else { return }
        slots[index].entry?.connection = connection
        slots[index].entry?.tokenGeneration = tokenGeneration
        slots[index].entry?.attempts += 1
    }

    /// The connection that took the push of `tag` surely did not send it, or its peer did not
    /// process it.
    package mutating func unassign(_ tag: UInt64) {
        if let index = index(of: tag) { slots[index].entry?.connection = nil }
    }

    private func tag(of index: Int32) -> UInt64 {
        UInt64(slots[Int(index)].generation) << 32 | UInt64(UInt32(bitPattern: index))
    }

    private func index(of tag: UInt64) -> Int? {
        let index = Int(truncatingIfNeeded: tag & 0xFFFF_FFFF)
        guard index < slots.count, slots[index].generation == UInt32(tag >> 32),
            slots[index].entry != nil
        else { return nil }
        return index
    }
}
