import Glibc
import Synchronization
import TestSupport
import Testing
import TomboloEventLog
import TomboloLog
import TomboloSQLite

/// A directory of its own, gone with the value; opening again closes what was open.
final class SQLitePlace: EventLogPlace {
    let directory: String
    private let newest = Mutex<SQLiteEventLog?>(nil)

    init() {
        var template = Array("/tmp/tombolo-log-XXXXXX".utf8CString)
        let made = mkdtemp(&template)
        precondition(made != nil, "/tmp takes directories")
        directory = String(decoding: template.dropLast().map(UInt8.init), as: UTF8.self)
    }

    deinit {
        // Drops the log, if one is open, before its files go.
        newest.withLock { $0 = nil }
        for file in [
            "tombolo.db", "tombolo.db-wal", "tombolo.db-shm", "tombolo.lock", "tombolo.ballast",
        ] {
            unlink("\(directory)/\(file)")
        }
        rmdir(directory)
    }

    func open() async throws -> any EventLog {
        await newest.withLock { $0.take() }?.close()
        let log = try reopen()
        newest.withLock { $0 = log }
        return log
    }

    /// A log that the caller holds alone.
    func reopen() throws -> SQLiteEventLog {
        var chance = SplitMix64(seed: 1)
        return try SQLiteEventLog(directory: directory, chance: &chance)
    }

    /// Whether the bytes of `text` are anywhere in a file of the log.
    func has(_ text: String) throws -> Bool {
        let wanted = Array(text.utf8)
        for name in ["tombolo.db", "tombolo.db-wal", "tombolo.db-shm"] {
            guard let file = fopen("\(directory)/\(name)", "r") else { continue }
            defer { fclose(file) }
            fseek(file, 0, SEEK_END)
            var bytes = [UInt8](repeating: 0, count: ftell(file))
            rewind(file)
            #expect(fread(&bytes, 1, bytes.count, file) == bytes.count)
            let found = bytes.withUnsafeBufferPointer { all in
                all.indices.dropLast(wanted.count - 1).contains { start in
                    all[start] == wanted[0]
                        && wanted.indices.allSatisfy { all[start + $0] == wanted[$0] }
                }
            }
            if found { return true }
        }
        return false
    }
}
