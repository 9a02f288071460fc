import Glibc
import Synchronization
import TomboloCore
import TomboloEventLog

/// The directory that a log lives in, held against every other relay.
///
/// The hold is a `flock` on `tombolo.lock`: the kernel lets go when the process ends, however it
/// ends. Created with mode 0700; an existing directory keeps its mode.
final class DataDirectory: Sendable {
    private static let lockName = "/tombolo.lock"

    let path: String
    /// When the last one that held it wrote last, where it did not end by itself: it was killed,
    /// or the machine went down.
    let lastRun: Instant?
    /// The lock file's descriptor; nil once it is let go of.
    private let lock: Mutex<Int32?>
    /// Whether our line is in the lock file.
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
        // For the line that a second relay prints. It is not the lock: where it cannot be written,
        // that line only says less.
        let number = Array("\(getpid())\(Self.runs)\n".utf8)
        ftruncate(lock, 0)
        pwrite(lock, number, number.count, 0)
        signs = true
        self.lock = Mutex(lock)
    }

    /// Keeps relays out of `path` and leaves all that is in it as it is. A backup has no lock file
    /// and no relay: it is not held.
    init(reading path: String) throws(EventLogError) {
        self.path = path
        let isThere = access(path + Self.lockName, F_OK) == 0
        (lastRun, signs) = (nil, false)
        lock = Mutex(isThere ? try Self.held(path, O_RDONLY, LOCK_SH) : nil)
    }

    deinit { letGo() }

    /// Another relay may have it now. One that is killed does not come here.
    func letGo() {
        guard let descriptor = lock.withLock({ $0.take() }) else { return }
        if signs { ftruncate(descriptor, 0) }
        close(descriptor)
    }

    var databasePath: String { path + "/tombolo.db" }
    /// What the file of a log has behind its name while it is imported.
    static let importEnd = ".importing"

    /// Makes the database's file, so that it and SQLite's files beside it, which inherit its mode,
    /// are 0600. A new one is not made in the place of one whose import was killed.
    func createDatabase() throws(EventLogError) {
        let draft = databasePath + Self.importEnd
        guard access(databasePath, F_OK) == 0 || access(draft, F_OK) != 0 else {
            throw .unusable(
                cause: "an import into \(path) has not come to its end",
                hint: "give the import again: it begins anew; or rm \(draft)")
        }
        let descriptor = open(databasePath, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            if errno == EEXIST { return }
            throw Self.refused(databasePath)
        }
        close(descriptor)
        Self.sync(path)
    }

    /// The lock of the directory, held. Tries for a fifth of a second: one that is just ending, or
    /// a child of it that has not become another program yet, is waited for.
    private static func held(
        _ path: String, _ flags: Int32, _ mode: Int32
    ) throws(EventLogError) -> Int32 {
        let name = path + lockName
        // A link is not followed: we write into the file that it names.
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
        throw .unusable(
            cause: "another relay\(holder) has \(path) open",
            hint: "stop that one, or give this one a data directory of its own")
    }

    /// A new name in a directory is durable when the directory is; a file system that cannot do
    /// that does not need it.
    private static func sync(_ directory: String) { try? LogFile.sync(directory) }

    /// Behind the number; older programs wrote the number alone, and left it there.
    private static let runs = " runs"

    /// What the one before has left.
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
