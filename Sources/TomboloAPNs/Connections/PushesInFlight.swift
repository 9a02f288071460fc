package import TomboloCore
package import TomboloLoop

/// The pushes that have no outcome yet, in order of hand-over.
///
/// A slab with a doubly linked list through it: inserting and removing cost a few stores, and the
/// oldest push, whose deadline comes first since all wait equally long, is always at hand. A tag names
/// a push until it is removed; the tag of a removed push finds nothing, so a late answer is harmless.
package struct PushesInFlight {
    package struct Entry {
        package var push: PushID
        package var handedOverAt: MonotonicInstant
        /// Which of the lane's connections carries it; nil while it waits for one.
        package var connection: Int32?
        /// The minting of the provider token it carries.
        package var tokenGeneration: ProviderToken.Generation

        package init(
            push: PushID, handedOverAt: MonotonicInstant, connection: Int32? = nil,
            tokenGeneration: ProviderToken.Generation = 0
        ) {
            self.push = push
            self.handedOverAt = handedOverAt
            self.connection = connection
            self.tokenGeneration = tokenGeneration
        }
    }

    private struct Slot {
        var entry: Entry
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
    package mutating func insert(_ entry: Entry) -> UInt64 {
        let index: Int32
        if let last = free.popLast() {
            index = last
            slots[Int(index)].entry = entry
            slots[Int(index)].previous = newest
            slots[Int(index)].next = Self.none
        } else {
            index = Int32(slots.count)
            slots.append(
                Slot(entry: entry, generation: 0, previous: newest, next: Self.none))
        }
        if newest == Self.none { oldest = index } else { slots[Int(newest)].next = index }
        newest = index
        count += 1
        return tag(of: index)
    }

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
        slots[index].generation &+= 1
        free.append(Int32(index))
        count -= 1
        return slot.entry
    }

    /// The oldest push and its tag.
    package var first: (tag: UInt64, entry: Entry)? {
        oldest == Self.none ? nil : (tag(of: oldest), slots[Int(oldest)].entry)
    }

    /// Notes which connection and which provider token carry the push of `tag`.
    package mutating func assign(
        _ tag: UInt64, connection: Int32, tokenGeneration: ProviderToken.Generation
    ) {
        guard let index = index(of: tag) else { return }
        slots[index].entry.connection = connection
        slots[index].entry.tokenGeneration = tokenGeneration
    }

    private func tag(of index: Int32) -> UInt64 {
        UInt64(slots[Int(index)].generation) << 32 | UInt64(UInt32(bitPattern: index))
    }

    private func index(of tag: UInt64) -> Int? {
        let index = Int(truncatingIfNeeded: tag & 0xFFFF_FFFF)
        // A slot's generation changes when its push is removed: an old tag finds nothing.
        guard index < slots.count, slots[index].generation == UInt32(tag >> 32) else { return nil }
        return index
    }
}
