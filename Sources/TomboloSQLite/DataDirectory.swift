import Glibc
import Synchronization
import TomboloCore
import TomboloEventLog

/// The directory of a log, locked against other relays. The lock is a `flock` on `tombolo.lock`.
/// The kernel releases it when the process ends in any way. A new directory gets mode 0700; an
/// existing one keeps its mode.
final class DataDirectory: Sendable {
    private static let lockName = "/tombolo.lock"

    let path: String
    /// When the previous relay wrote last, if it did not stop cleanly: it was killed, or the
    /// machine went down. Nil otherwise.
    let lastRun: Instant?
    /// The lock file's descriptor; nil once the lock is released.
    private let lock: Mutex<Int32?>
    /// True if this process has written its line into the lock file.
    private let signs: Bool

    init(_ path: String) throws(EventLogError) {
        self.path = path
        if mkdir(path, 0o700) == 0 {
            Self.sync(path + "/..")
        } else if errno != EEXIST {
            throw Self.refused(path)
        }
        let lock = try Self.held(path, O_RDWR | O_CREAT, LOCK_EX)
        lastRun = Self.line(lock).contains(Self.runs) ? Self.lastWrite(in: path) : nil
        // The line is for a second relay's error message, and is not the lock. If it cannot be
        // written, the message only has less detail.
        let number = Array("\(getpid())\(Self.runs)\n".utf8)
        ftruncate(lock, 0)
        pwrite(lock, number, number.count, 0)
        signs = true
        self.lock = Mutex(lock)
    }

    /// Locks `path` for reading, so that no relay can start on it. A backup has no lock file, so it
    /// is not locked.
    init(reading path: String) throws(EventLogError) {
        self.path = path
        let isThere = access(path + Self.lockName, F_OK) == 0
        (lastRun, signs) = (nil, false)
        lock = Mutex(isThere ? try Self.held(path, O_RDONLY, LOCK_SH) : nil)
    }

    deinit { letGo() }

    /// Releases the lock for another relay. If the process is killed, this is not called.
    func letGo() {
        guard let descriptor = lock.withLock({ $0.take() }) else { return }
        if signs { ftruncate(descriptor, 0) }
        close(descriptor)
    }

    var databasePath: String { path + "/tombolo.db" }
    /// Suffix of a log's file while it is imported.
    static let importEnd = ".importing"

    /// Creates the database's file with mode 0600. SQLite gives the same mode to its files beside
    /// it. Throws if there is an unfinished import instead.
    func createDatabase() throws(EventLogError) {
        let draft = databasePath + Self.importEnd
        guard access(databasePath, F_OK) == 0 || access(draft, F_OK) != 0 else {
            throw .unusable(
                cause: "an import into \(path) has not come to its end",
                hint: "run the import again: it starts from the beginning; or rm \(draft)")
        }
        let descriptor = open(databasePath, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            if errno == EEXIST { return }
            throw Self.refused(databasePath)
        }
        close(descriptor)
        Self.sync(path)
    }

    /// Locks the directory's lock file. Tries for a fifth of a second, because a relay may be about
    /// to end, or one of its child processes may not have executed another program yet.
    private static func held(
        _ path: String, _ flags: Int32, _ mode: Int32
    ) throws(EventLogError) -> Int32 {
        let name = path + lockName
        // Do not follow a link, because this file is written to.
        let lock = open(name, flags | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard lock >= 0 else {
            guard errno == ELOOP else { throw refused(name) }
            throw .unusable(
                cause: "\(name) is a link, and has to be a file of its own",
                hint: "remove it: rm \(name)")
        }
        for _ in 0...20 {
            if flock(lock, mode | LOCK_NB) == 0 { return lock }
            poll(nil, 0, 10)
        }
        let number = line(lock).prefix { $0.isASCII && $0.isNumber }
        let holder = number.isEmpty ? "" : " (process \(number))"
        close(lock)
        throw .owned(
            cause: "another relay\(holder) has \(path) open",
            hint: "stop that one, or give this one a data directory of its own")
    }

    /// Makes a new name in a directory durable. If the file system cannot, it need not.
    private static func sync(_ directory: String) { try? LogFile.sync(directory) }

    /// Text after the process id. Older versions wrote only the id, and left it there.
    private static let runs = " runs"

    /// The line that the previous relay left.
    private static func line(_ lock: Int32) -> String {
        var bytes = [UInt8](repeating: 0, count: 32)
        let count = pread(lock, &bytes, bytes.count, 0)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    private static func lastWrite(in path: String) -> Instant? {
        ["tombolo.db-wal", "tombolo.db"].compactMap { name in
            var status = stat()
            guard stat("\(path)/\(name)", &status) == 0 else { return nil }
            let time = status.st_mtim
            return Instant(seconds: Int64(time.tv_sec)) + Span(nanoseconds: Int64(time.tv_nsec))
        }.max()
    }

    private static func refused(_ path: String) -> EventLogError {
        .file(
            path,
            hint: "name a directory, in one that exists, that the relay's user may write to")
    }
}
