import CSQLite
import TomboloEventLog

/// What SQLite answered instead of doing as told.
struct SQLiteError: Error, Equatable {
    /// SQLite's extended result code.
    let code: Int32
    let message: String

    /// The result code without its details.
    var primary: Int32 { code & 0xff }

    /// The newest error of `connection`.
    init(_ connection: OpaquePointer?) {
        code = sqlite3_extended_errcode(connection)
        message = String(cString: sqlite3_errmsg(connection))
    }

    init(code: Int32) {
        self.code = code
        message = String(cString: sqlite3_errstr(code))
    }

    /// A database that no relay has made.
    static let notOurs = SQLiteError(code: SQLITE_NOTADB)

    /// For operators: what it says and its number.
    var cause: String { "SQLite: \(message) (\(code))" }

    /// The same for one who could not open or read the database at `path`.
    func unusable(_ path: String) -> EventLogError {
        let hint =
            switch primary {
            case SQLITE_NOTADB, SQLITE_CORRUPT:
                "restore a backup: the file is damaged, or is no Tombolo log"
            case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_READONLY, SQLITE_AUTH:
                "let the user who runs the relay read and write it and its directory"
            case SQLITE_FULL:
                "free some space on its file system, then start again"
            case SQLITE_BUSY, SQLITE_LOCKED:
                "end the other program that writes to it, then start again"
            default:
                "look at the disk (dmesg), then start again: what was acknowledged is recovered"
            }
        return .unusable(cause: "\(path): \(cause)", hint: hint)
    }
}
