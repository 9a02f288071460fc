import CLinux
package import TomboloCore
package import TomboloLoop

/// The pushes that have no outcome yet, in the order in which they came.
///
/// They are slots in one piece of memory, linked as a list in both directions, so inserting and
/// removing cost a few stores. The first push is the oldest and has the earliest deadline. A tag
/// identifies a push until it is removed; then the tag finds nothing, so a late answer does no
/// harm. On one thread only, like its client.
package final class PushesInFlight {
    /// State of one push.
    package struct Entry: Hashable, Sendable {
        package let id: PushID
        package let handedOverAt: MonotonicInstant
        /// As in the push.
        package let changedAt: Instant?
        /// Number of the connection that carries the push; nil while the push waits for one.
        package let connection: Int32?
        /// Generation of its provider token.
        package let tokenGeneration: ProviderToken.Generation
        /// Number of attempts to send the push.
        package let attempts: Int
    }

    /// A whole cache line of 64 bytes: when a push's outcome comes, its slot is no longer in the
    /// CPU cache.
    private struct Slot {
        var isTaken = false
        var id = PushID(0)
        var handedOverAt = MonotonicInstant(nanoseconds: 0)
        var changedAt: Instant?
        var connection = PushesInFlight.none
        var tokenGeneration: ProviderToken.Generation = 0
        var attempts: Int32 = 0
        /// How many pushes have used the slot. An old tag has another number, so it finds nothing.
        var generation: UInt32 = 0
        var previous = PushesInFlight.none
        /// In a free slot, the next free one.
        var next = PushesInFlight.none

        var entry: Entry {
            Entry(
                id: id, handedOverAt: handedOverAt, changedAt: changedAt,
                connection: connection == PushesInFlight.none ? nil : connection,
                tokenGeneration: tokenGeneration, attempts: Int(attempts))
        }
    }

    /// Behind a pointer: the run-time check for exclusive access would cost more than the accesses.
    private struct State {
        var slots: UnsafeMutablePointer<Slot>
        /// `pushes[i]` belongs to `slots[i]`. It is initialised only if the slot is taken.
        var pushes: UnsafeMutablePointer<Push>
        var capacity: Int
        var count = 0
        var free = PushesInFlight.none
        var oldest = PushesInFlight.none
        var newest = PushesInFlight.none
    }

    private static let none: Int32 = -1
    private static let capacityAtFirst = 64

    private let state: UnsafeMutablePointer<State>

    package init() {
        state = .allocate(capacity: 1)
        state.initialize(
            to: State(slots: .allocate(capacity: 0), pushes: .allocate(capacity: 0), capacity: 0))
    }

    deinit {
        for index in 0..<state.pointee.capacity where state.pointee.slots[index].isTaken {
            (state.pointee.pushes + index).deinitialize(count: 1)
        }
        state.pointee.pushes.deallocate()
        state.pointee.slots.deallocate()
        state.deallocate()
    }

    /// Number of pushes without an outcome.
    package var count: Int { state.pointee.count }

    /// Adds a push as the newest one. Returns its tag.
    package func insert(_ push: consuming Push, at now: MonotonicInstant) -> UInt64 {
        if state.pointee.free == Self.none { grow() }
        let index = state.pointee.free
        let slot = state.pointee.slots + Int(index)
        state.pointee.free = slot.pointee.next
        slot.pointee.isTaken = true
        slot.pointee.id = push.id
        slot.pointee.changedAt = push.changedAt
        (state.pointee.pushes + Int(index)).initialize(to: consume push)
        slot.pointee.handedOverAt = now
        slot.pointee.connection = Self.none
        slot.pointee.tokenGeneration = 0
        slot.pointee.attempts = 0
        let newest = state.pointee.newest
        slot.pointee.previous = newest
        slot.pointee.next = Self.none
        if newest == Self.none {
            state.pointee.oldest = index
        } else {
            state.pointee.slots[Int(newest)].next = index
        }
        state.pointee.newest = index
        state.pointee.count += 1
        return tag(of: index)
    }

    private func grow() {
        let old = state.pointee.capacity
        let new = max(Self.capacityAtFirst, 2 * old)
        // The table grows only when it is full, so every push is initialised.
        let pushes = UnsafeMutablePointer<Push>.allocate(capacity: new)
        pushes.moveInitialize(from: state.pointee.pushes, count: old)
        state.pointee.pushes.deallocate()
        state.pointee.pushes = pushes
        let slots = UnsafeMutableRawPointer.allocate(
            byteCount: new * MemoryLayout<Slot>.stride, alignment: 64
        ).bindMemory(to: Slot.self, capacity: new)
        slots.moveInitialize(from: state.pointee.slots, count: old)
        (slots + old).initialize(repeating: Slot(), count: new - old)
        for index in old..<new {
            slots[index].next = index + 1 < new ? Int32(index + 1) : Self.none
        }
        state.pointee.slots.deallocate()
        state.pointee.slots = slots
        state.pointee.capacity = new
        state.pointee.free = Int32(old)
    }

    /// The push, valid until it is removed or another is inserted; nil if it was removed.
    package func place(of tag: UInt64) -> UnsafePointer<Push>? {
        slot(of: tag).map { UnsafePointer(state.pointee.pushes + ($0 - state.pointee.slots)) }
    }

    /// State of the push of `tag`; nil if it was removed.
    package subscript(tag: UInt64) -> Entry? { slot(of: tag)?.pointee.entry }

    /// Removes the push of `tag`. Returns its state, or nil if it was removed before.
    package func remove(_ tag: UInt64) -> Entry? {
        guard let slot = slot(of: tag) else { return nil }
        let index = slot - state.pointee.slots
        let entry = slot.pointee.entry
        (state.pointee.pushes + index).deinitialize(count: 1)
        slot.pointee.isTaken = false
        let (previous, next) = (slot.pointee.previous, slot.pointee.next)
        if previous == Self.none {
            state.pointee.oldest = next
        } else {
            state.pointee.slots[Int(previous)].next = next
        }
        if next == Self.none {
            state.pointee.newest = previous
        } else {
            state.pointee.slots[Int(next)].previous = previous
        }
        slot.pointee.generation &+= 1
        slot.pointee.next = state.pointee.free
        state.pointee.free = Int32(index)
        state.pointee.count -= 1
        return entry
    }

    /// Prefetches the memory that `remove` will read. The tag need not be valid.
    func prefetch(_ tag: UInt64) {
        let index = Int(truncatingIfNeeded: tag & 0xFFFF_FFFF)
        guard index < state.pointee.capacity else { return }
        tombolo_prefetch(state.pointee.slots + index)
        let push = UnsafeRawPointer(state.pointee.pushes + index)
        tombolo_prefetch(push)
        tombolo_prefetch(push + 64)
    }

    /// Prefetches the memory of a push's payload: `remove` frees it, and the next push will
    /// probably reuse it.
    func prefetchPayload(_ tag: UInt64) {
        guard let push = place(of: tag) else { return }
        push.pointee.payload.withUnsafeBytes { payload in
            guard let base = payload.baseAddress else { return }
            for offset in stride(from: -64, to: payload.count, by: 64) {
                tombolo_prefetch(base + offset)
            }
        }
    }

    /// The tag of the oldest push.
    package var first: UInt64? {
        state.pointee.oldest == Self.none ? nil : tag(of: state.pointee.oldest)
    }

    /// Notes which connection carries the push, and with which provider token.
    package func assign(
        _ tag: UInt64, to connection: Int32, tokenGeneration: ProviderToken.Generation
    ) {
        guard let slot = slot(of: tag) else { return }
        slot.pointee.connection = connection
        slot.pointee.tokenGeneration = tokenGeneration
        slot.pointee.attempts += 1
    }

    /// Notes that the push was certainly not sent, or that the peer did not process it.
    package func unassign(_ tag: UInt64) { slot(of: tag)?.pointee.connection = Self.none }

    private func tag(of index: Int32) -> UInt64 {
        UInt64(state.pointee.slots[Int(index)].generation) << 32
            | UInt64(UInt32(bitPattern: index))
    }

    private func slot(of tag: UInt64) -> UnsafeMutablePointer<Slot>? {
        let index = Int(truncatingIfNeeded: tag & 0xFFFF_FFFF)
        guard index < state.pointee.capacity else { return nil }
        let slot = state.pointee.slots + index
        return slot.pointee.generation == UInt32(tag >> 32) && slot.pointee.isTaken ? slot : nil
    }
}
