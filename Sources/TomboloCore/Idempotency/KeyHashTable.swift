/// Maps hashes of idempotency keys to the sequence numbers of their events, for the keys of the
/// last day. A slot has 16 bytes; a look-up costs about two cache misses.
///
/// The table uses open addressing. The hash itself is the place, because it is random already. A
/// hash may have several numbers, because the caller compares the full keys. Entries below `cutoff`
/// count as absent, and are removed when the table grows.
package struct KeyHashTable: Sendable {
    private struct Slot {
        var hash: UInt64
        /// 0: the slot is free. `.min`: its key was removed.
        var seq: Int64
    }

    private static let slotsMin = 1_024

    private var slots: [Slot]
    /// Number of slots that are not free.
    private var used = 0
    package private(set) var cutoff: Int64 = 1

    package init() { slots = Array(repeating: Slot(hash: 0, seq: 0), count: Self.slotsMin) }

    package var slotCount: Int { slots.count }

    /// Forgets entries with sequence numbers below `cutoff`.
    package mutating func expire(below cutoff: Int64) { self.cutoff = max(cutoff, self.cutoff) }

    /// Makes room for `keys` keys. Does nothing if the table is not empty.
    package mutating func reserve(_ keys: Int) {
        guard used == 0 else { return }
        var count = slots.count
        while count * 3 <= keys * 4 { count *= 2 }
        slots = Array(repeating: Slot(hash: 0, seq: 0), count: count)
    }

    /// Adds the hash of one key.
    package mutating func insert(_ hash: UInt64, seq: Int64) {
        if (used + 1) * 4 > slots.count * 3 { rebuild() }
        place(Slot(hash: hash, seq: seq))
    }

    /// Adds many hashes with their sequence numbers. Touches the memory of later ones early, so
    /// that no insertion waits for it.
    package mutating func insert(_ hashes: ArraySlice<UInt64>, seqs: ArraySlice<Int64>) {
        while (used + hashes.count) * 4 > slots.count * 3 { rebuild(for: hashes.count) }
        let mask = slots.count - 1
        slots.withUnsafeMutableBufferPointer { slots in
            var fetched: Int64 = 0
            for (hash, seq) in zip(hashes.indices, seqs) {
                let ahead = min(hash + 24, hashes.endIndex - 1)
                fetched |= slots[Int(truncatingIfNeeded: hashes[ahead]) & mask].seq
                var index = Int(truncatingIfNeeded: hashes[hash]) & mask
                while slots[index].seq != 0 { index = (index + 1) & mask }
                slots[index] = Slot(hash: hashes[hash], seq: seq)
            }
            withExtendedLifetime(fetched) {}
        }
        used += hashes.count
    }

    /// The first number found under `hash` for which `isIt` is true, in no particular order.
    package func first(_ hash: UInt64, where isIt: (Int64) -> Bool) -> Int64? {
        var index = Int(truncatingIfNeeded: hash) & (slots.count - 1)
        while slots[index].seq != 0 {
            let slot = slots[index]
            if slot.hash == hash, slot.seq >= cutoff, isIt(slot.seq) { return slot.seq }
            index = (index + 1) & (slots.count - 1)
        }
        return nil
    }

    /// The highest number under `hash` for which `isIt` is true.
    package func newest(_ hash: UInt64, where isIt: (Int64) -> Bool) -> Int64? {
        var newest: Int64?
        _ = first(hash) { seq in
            if seq > newest ?? 0, isIt(seq) { newest = seq }
            return false
        }
        return newest
    }

    /// All numbers that are not below `cutoff`, ascending.
    package var seqs: [Int64] { slots.map(\.seq).filter { $0 >= cutoff }.sorted() }

    /// Removes one number of a hash.
    package mutating func remove(_ hash: UInt64, seq: Int64) {
        var index = Int(truncatingIfNeeded: hash) & (slots.count - 1)
        while slots[index].seq != 0 {
            if slots[index].hash == hash, slots[index].seq == seq {
                slots[index].seq = .min
                return
            }
            index = (index + 1) & (slots.count - 1)
        }
    }

    private mutating func place(_ slot: Slot) {
        var index = Int(truncatingIfNeeded: slot.hash) & (slots.count - 1)
        while slots[index].seq != 0 { index = (index + 1) & (slots.count - 1) }
        slots[index] = slot
        used += 1
    }

    private mutating func rebuild(for more: Int = 0) {
        let live = slots.filter { $0.seq >= cutoff }
        var count = Self.slotsMin
        while (live.count + more) * 2 >= count { count *= 2 }
        slots = Array(repeating: Slot(hash: 0, seq: 0), count: count)
        used = 0
        for slot in live { place(slot) }
    }
}
