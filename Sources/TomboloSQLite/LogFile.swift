import Glibc
import TomboloEventLog

/// The file of a database, and SQLite's files beside it.
enum LogFile {
    static func make(_ path: String) throws(EventLogError) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .file(path) }
        close(descriptor)
    }

    static func remove(_ path: String) {
        for end in ["", "-wal", "-shm", "-journal"] { unlink(path + end) }
    }

    /// Makes a file or a directory durable.
    static func sync(_ path: String) throws(EventLogError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .file(path) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .file(path) }
    }
}

// An imported or restored log appears completely or not at all.

extension DataDirectory {
    /// Creates the file for an incomplete log. Throws if there is a log already.
    ///
    /// - Parameter hint: the remedy if there is a log already.
    func draft(_ end: String, hint: String) throws(EventLogError) -> String {
        guard access(databasePath, F_OK) != 0 else {
            throw .unusable(cause: "there is a log in \(path) already", hint: hint)
        }
        let draft = databasePath + end
        LogFile.remove(draft)
        try LogFile.make(draft)
        return draft
    }

    /// Moves a complete, closed draft to the log's place; durable on return.
    func place(_ draft: String) throws(EventLogError) {
        try LogFile.sync(draft)
        // An earlier log may have left files beside it.
        LogFile.remove(databasePath)
        guard rename(draft, databasePath) == 0 else { throw .file(databasePath) }
        try LogFile.sync(path)
    }
}
