import CSQLite
import Glibc
import TomboloEventLog

extension EventLogError {
    /// The last error of `connection`, for the database at `path`.
    static func sqlite(_ connection: OpaquePointer?, _ path: String) -> EventLogError {
        sqlite(
            sqlite3_extended_errcode(connection), path,
            message: String(cString: sqlite3_errmsg(connection)))
    }

    /// The error for SQLite's extended result code. `hint` is the remedy if the code alone does not
    /// imply one.
    static func sqlite(
        _ code: Int32, _ path: String, message: String? = nil, hint: String? = nil
    ) -> EventLogError {
        let message = message ?? String(cString: sqlite3_errstr(code))
        let codeHint: String
        // The primary result code.
        switch code & 0xff {
        case SQLITE_FULL:
            return .full(
                hint: "free some space on the file system of \(path): events are taken again then")
        case SQLITE_NOTADB, SQLITE_CORRUPT:
            codeHint = "restore a backup: the file is damaged, or is not a Tombolo log"
        case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_READONLY, SQLITE_AUTH:
            codeHint = "let the user who runs the relay read and write it and its directory"
        case SQLITE_BUSY, SQLITE_LOCKED:
            codeHint = "end the other program that writes to it, then start again"
        default:
            codeHint =
                "look at the disk (dmesg), then start again: what was acknowledged is recovered"
        }
        return .unusable(cause: "\(path): SQLite: \(message) (\(code))", hint: hint ?? codeHint)
    }

    /// Error of a system call on the file at `path`.
    static func file(
        _ path: String,
        hint: String = "name a place with room, where this user may write and nothing is yet"
    ) -> EventLogError {
        .unusable(cause: "\(path): \(String(cString: strerror(errno)))", hint: hint)
    }
}
