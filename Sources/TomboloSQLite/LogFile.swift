import Glibc
import TomboloEventLog

/// The file of a database, and those that SQLite has beside it.
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

// A log that comes from elsewhere is there whole or not at all.

extension DataDirectory {
    /// Makes the file for a log that is not whole yet, where no log is.
    ///
    /// - Parameter hint: what to do where there is one.
    func draft(_ end: String, hint: String) throws(EventLogError) -> String {
        guard access(databasePath, F_OK) != 0 else {
            throw .unusable(cause: "there is a log in \(path) already", hint: hint)
        }
        let draft = databasePath + end
        LogFile.remove(draft)
        try LogFile.make(draft)
        return draft
    }

    /// Puts a draft, which is whole and closed, where the log belongs; durable on return.
    func place(_ draft: String) throws(EventLogError) {
        try LogFile.sync(draft)
        // An earlier log may have left files beside it.
        LogFile.remove(databasePath)
        guard rename(draft, databasePath) == 0 else { throw .file(databasePath) }
        try LogFile.sync(path)
    }
}
