import CSQLite

/// A disk that keeps only what was synced, for SQLite as a VFS: power can fail at any write, and of
/// what was written since the last sync each write is then kept, lost or torn, in any order.
///
/// It follows what SQLite expects of a real disk: sectors of 512 bytes are written whole, a write
/// touches no byte beside it (`SQLITE_IOCAP_POWERSAFE_OVERWRITE`, as on Linux), names in the
/// directory are durable when a journal that is new is synced first or a deletion asks for it. For
/// one thread: everything is decided by `chance`.
package final class SimulatedDisk {
    /// What happens at one operation and from then on.
    package enum Fault: Hashable, Sendable {
        /// Nothing reaches the disk any more, until `restorePower`.
        case powerLoss
        /// This one operation answers an I/O error and has done nothing, or half of it.
        case inputOutputError
    }

    /// Writes, truncations, syncs and deletions so far.
    package private(set) var operations = 0
    /// Syncs that were done.
    package internal(set) var syncs = 0
    package private(set) var isDark = false
    /// The name under which SQLite knows it.
    package let vfsName: String
    /// All files together may hold so many bytes; nil for a disk without end.
    package var bytesMax: Int?
    /// Files can be read, and nothing more.
    package var isReadOnly = false
    /// Syncs succeed and do nothing: to see that a test would notice.
    package var liesAboutSync = false

    private var fault: (operation: Int, fault: Fault)?
    private var entries: [String: Entry] = [:]
    private var chance: SplitMix64
    private var vfs: UnsafeMutablePointer<sqlite3_vfs>?

    /// A name in the directory: what it surely leads to, and what it came to lead to since.
    private struct Entry {
        var durable: SimulatedFile?
        var pending: [SimulatedFile?] = []
        var current: SimulatedFile? { pending.last ?? durable }
    }

    package init(seed: UInt64) {
        chance = SplitMix64(seed: seed)
        vfsName = "simulated-disk-\(SimulatedDisk.numbers.next())"
        vfs = SimulatedVFS.register(self, name: vfsName)
    }

    deinit { SimulatedVFS.unregister(vfs) }

    private static let numbers = Numbers()

    // MARK: What a test does to it

    /// `fault` strikes `count` operations from now; 1 is the next one.
    package func plan(_ fault: Fault, after count: Int) {
        self.fault = (operations + count, fault)
    }

    /// What was planned does not come.
    package func planNothing() { fault = nil }

    /// Makes an empty file, name and all durable.
    package func create(_ name: String) { entries[name] = Entry(durable: SimulatedFile()) }

    /// The machine after its power came back. Every connection must have been closed.
    package func restorePower() {
        isDark = false
        fault = nil
        for name in entries.keys.sorted() {
            guard let entry = entries[name] else { continue }
            let states = [entry.durable] + entry.pending
            let survivor = states[Int(chance.next(below: UInt64(states.count)))]
            survivor?.losePower(&chance)
            entries[name] = survivor.map { Entry(durable: $0) }
        }
    }

    /// Flips one bit.
    package func flipBit(_ name: String, byte: Int, bit: Int) {
        entries[name]?.current?.flip(byte: byte, bit: bit)
    }

    // MARK: What SQLite does to it

    /// What strikes an operation.
    enum Strike {
        case nothing
        case error
        /// The power fails while it is under way: it may still have done something.
        case lastOfAll
        case dark
    }

    /// Counts an operation, and says what strikes it.
    func strike() -> Strike {
        operations += 1
        if isDark { return .dark }
        guard let planned = fault, operations == planned.operation else { return .nothing }
        fault = nil
        guard planned.fault == .powerLoss else { return .error }
        isDark = true
        return .lastOfAll
    }

    func file(_ name: String) -> SimulatedFile? { entries[name]?.current }

    func make(_ name: String) -> SimulatedFile {
        let file = SimulatedFile()
        entries[name, default: Entry()].pending.append(file)
        return file
    }

    func remove(_ name: String) { entries[name]?.pending.append(nil) }

    /// What the names lead to now is durable.
    func syncDirectory() {
        for (name, entry) in entries {
            entries[name] = entry.current.map { Entry(durable: $0) }
        }
    }

    /// How many bytes of a write that makes `file` grow by `growth` still have room.
    func room(for growth: Int) -> Int {
        guard let bytesMax, growth > 0 else { return growth }
        return min(growth, max(0, bytesMax - bytesUsed))
    }

    /// The size of all files together.
    package var bytesUsed: Int { entries.values.reduce(0) { $0 + ($1.current?.count ?? 0) } }

    func fill(_ bytes: UnsafeMutableRawBufferPointer) {
        for index in bytes.indices { bytes[index] = UInt8(truncatingIfNeeded: chance.next()) }
    }

    /// Half of the time: whether a failed write had done something.
    func tossesCoin() -> Bool { chance.next(below: 2) == 0 }
}
