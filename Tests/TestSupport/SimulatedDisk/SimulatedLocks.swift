import CSQLite

/// Who opened a file: a connection's handle.
final class SimulatedHolder {}

/// A database file's locks (sqlite.org/lockingv3.html), for connections of one thread: nobody
/// waits.
final class SimulatedLocks {
    private var levels: [ObjectIdentifier: Int32] = [:]

    func lock(_ holder: SimulatedHolder, _ level: Int32) -> Int32 {
        let mine = ObjectIdentifier(holder)
        guard levels[mine, default: SQLITE_LOCK_NONE] < level else { return SQLITE_OK }
        let others = levels.filter { $0.key != mine }.map(\.value).max() ?? SQLITE_LOCK_NONE
        let isFree =
            switch level {
            case SQLITE_LOCK_SHARED: others < SQLITE_LOCK_PENDING
            case SQLITE_LOCK_RESERVED, SQLITE_LOCK_PENDING: others < SQLITE_LOCK_RESERVED
            default: others < SQLITE_LOCK_SHARED
            }
        guard isFree else { return SQLITE_BUSY }
        levels[mine] = level
        return SQLITE_OK
    }

    func unlock(_ holder: SimulatedHolder, to level: Int32) {
        levels[ObjectIdentifier(holder)] = level == SQLITE_LOCK_NONE ? nil : level
    }

    var isReserved: Bool { levels.values.contains { $0 >= SQLITE_LOCK_RESERVED } }

    func forget() { levels = [:] }
}

/// The write-ahead log's index: memory that connections share, and its eight locks.
final class SimulatedSharedMemory {
    private var regions: [UnsafeMutableRawBufferPointer] = []
    private var holders: [[ObjectIdentifier: Bool]] = Array(
        repeating: [:], count: Int(SQLITE_SHM_NLOCK))

    deinit { forget() }

    /// The region of that index; nil where it is not there and not to be made.
    func region(_ index: Int, bytes: Int, extends: Bool) -> UnsafeMutableRawPointer? {
        while regions.count <= index {
            guard extends else { return nil }
            let region = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes, alignment: 16)
            region.initializeMemory(as: UInt8.self, repeating: 0)
            regions.append(region)
        }
        return regions[index].baseAddress
    }

    func lock(_ holder: SimulatedHolder, slots: Range<Int>, flags: Int32) -> Int32 {
        let mine = ObjectIdentifier(holder)
        if flags & SQLITE_SHM_UNLOCK != 0 {
            for slot in slots { holders[slot][mine] = nil }
            return SQLITE_OK
        }
        let isExclusive = flags & SQLITE_SHM_EXCLUSIVE != 0
        let isFree = slots.allSatisfy { slot in
            holders[slot].allSatisfy { $0.key == mine || !(isExclusive || $0.value) }
        }
        guard isFree else { return SQLITE_BUSY }
        for slot in slots { holders[slot][mine] = isExclusive }
        return SQLITE_OK
    }

    func leave(_ holder: SimulatedHolder) {
        for slot in holders.indices { holders[slot][ObjectIdentifier(holder)] = nil }
    }

    func forget() {
        for region in regions { region.deallocate() }
        regions = []
        holders = Array(repeating: [:], count: holders.count)
    }
}
