import CSQLite
import TomboloEventLog
import TomboloLog

/// What SQLite answered instead of doing as told.
struct SQLiteError: Error, Equatable {
    /// SQLite's extended result code.
    let code: Int32
    let message: String
    /// What to do, where the code alone does not tell.
    private var hint: String?

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

    static func foreign(_ applicationID: Int64) -> SQLiteError {
        SQLiteError(
            code: SQLITE_NOTADB,
            message: "it is the database of another program (application_id \(applicationID))",
            hint: "give the relay a data directory of its own")
    }

    /// A log that another program wrote, newer or older.
    ///
    /// - Parameter ofCopy: it is in a backup, which is to be restored.
    static func other(_ schema: Int64, ofCopy: Bool = false) -> SQLiteError {
        if schema > LogSchema.version {
            return SQLiteError(
                code: SQLITE_SCHEMA,
                message: "it has schema \(schema), this program knows up to \(LogSchema.version)",
                hint: "run the newer tombolo that wrote it, or restore a backup from before it did")
        }
        return SQLiteError(
            code: SQLITE_SCHEMA,
            message: "it has schema \(schema), this program reads \(LogSchema.version)",
            hint: hint(older: schema, ofCopy))
    }

    private static func hint(older schema: Int64, _ isCopy: Bool) -> String {
        guard schema == 5 else {
            return "export it with the tombolo that wrote it (tombolo log export), and import that "
                + "into a new data directory (tombolo log import)"
        }
        return isCopy
            ? "make a copy of now of it, and restore that: COPY is the directory of this file; "
                + "tombolo log import --from-data COPY --data NEW; "
                + "tombolo backup restore NEW --data DIR"
            : "move the data directory away, and take its log into a new one: mv DIR DIR.old; "
                + "tombolo log import --from-data DIR.old --data DIR"
    }

    private init(code: Int32, message: String, hint: String) {
        self.code = code
        self.message = message
        self.hint = hint
    }

    /// For operators: what it says and its number.
    var cause: String { "SQLite: \(message) (\(code))" }

    /// The same for one who could not open or read the database at `path`.
    func unusable(_ path: String) -> EventLogError {
        .unusable(cause: "\(path): \(cause)", hint: hint ?? codeHint)
    }

    /// The same for one who writes it.
    func engineError(_ path: String) -> EventLogError {
        guard primary == SQLITE_FULL else { return unusable(path) }
        return .full(
            hint: "free some space on the file system of \(path): events are taken again then")
    }

    private var codeHint: String {
        switch primary {
        case SQLITE_NOTADB, SQLITE_CORRUPT:
            "restore a backup: the file is damaged, or is not a Tombolo log"
        case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_READONLY, SQLITE_AUTH:
            "let the user who runs the relay read and write it and its directory"
        case SQLITE_FULL:
            "free some space on its file system, then start again"
        case SQLITE_BUSY, SQLITE_LOCKED:
            "end the other program that writes to it, then start again"
        default:
            "look at the disk (dmesg), then start again: what was acknowledged is recovered"
        }
    }
}
