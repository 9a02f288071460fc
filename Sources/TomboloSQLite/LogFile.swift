import Glibc
import TomboloEventLog

/// The file of a database, and the files that SQLite keeps beside it.
enum LogFile {
    static func make(_ path: String) throws(EventLogError) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .file(path) }
        close(descriptor)
    }

    static func remove(_ path: String) {
        for end in ["", "-wal", "-shm", "-journal"] { unlink(path + end) }
    }

    /// Makes sure that a file or a directory is on the disk (fsync).
    static func sync(_ path: String) throws(EventLogError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .file(path) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .file(path) }
    }
}

// An imported or restored log is first written to a draft file, so that the log appears completely
// or not at all.

extension DataDirectory {
    /// Returns the path of the draft file, and removes an older draft. Throws if the directory
    /// already has a log.
    ///
    /// - Parameter hint: the error's advice if there is a log already.
    func draft(_ end: String, hint: String) throws(EventLogError) -> String {
        guard access(databasePath, F_OK) != 0 else {
            throw .unusable(cause: "there is a log in \(path) already", hint: hint)
        }
        let draft = databasePath + end
        LogFile.remove(draft)
        try LogFile.make(draft)
        return draft
    }

    /// Moves a complete, closed draft to the log's place. It is on the disk when the call returns.
    func place(_ draft: String) throws(EventLogError) {
        try LogFile.sync(draft)
        // An earlier log may have left files beside it.
        LogFile.remove(databasePath)
        guard rename(draft, databasePath) == 0 else { throw .file(databasePath) }
        try LogFile.sync(path)
    }
}
