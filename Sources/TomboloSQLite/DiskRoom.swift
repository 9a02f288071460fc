import Glibc
import Synchronization
import TomboloEventLog
import TomboloLog

/// How full the log's file system is, and a file that is there only to be given up.
///
/// SQLite needs room even to delete. So events are refused before the disk is full, and should
/// somebody else fill it, the ballast's room lets the relay write down what it has sent, and stop
/// or go on in order.
final class DiskRoom: LogRoom {
    /// At this share of the file system in use events are refused, in percent.
    static let percentMax: UInt64 = 90
    /// They are taken again below this: else they would come and go with each checkpoint.
    static let percentAgain: UInt64 = 88
    /// On a large disk nine tenths leave plenty: with this much free nothing is refused.
    static let bytesPlenty: UInt64 = 4 << 30
    /// The ballast: room for some checkpoints of marks and facts.
    static let ballastBytes: UInt64 = 8 << 20
    /// A start writes the index of the write-ahead log, and the first batch.
    static let startBytes: UInt64 = 2 << 20

    private let directory: String
    private let isRefusing = Atomic(false)
    /// The ballast was given up: its room is not the relay's until it is there again.
    private let owesBallast = Atomic(false)

    init(directory: String) { self.directory = directory }

    private var ballastPath: String { directory + "/tombolo.ballast" }

    /// Whether events may come. A file system that does not say has room.
    var isThere: Bool {
        let owes = owesBallast.load(ordering: .relaxed)
        guard let (percent, free) = use(owing: owes ? Self.ballastBytes : 0) else { return true }
        let refuses = Self.refuses(
            percent: percent, free: free, already: isRefusing.load(ordering: .relaxed))
        isRefusing.store(refuses, ordering: .relaxed)
        if owes, !refuses { fillBallast() }
        return !refuses
    }

    /// Whether there is no room for a start.
    var isFull: Bool { use().map { $0.free < Self.startBytes } ?? false }

    /// Whether a file system of which `percent` is used and `free` bytes are not takes no events,
    /// when it did so `already` or not.
    static func refuses(percent: UInt64, free: UInt64, already: Bool) -> Bool {
        percent >= (already ? percentAgain : percentMax) && free < bytesPlenty
    }

    /// Used, as `df` counts it, and bytes that are free.
    ///
    /// - Parameter owed: bytes that are free and count as used.
    private func use(owing owed: UInt64 = 0) -> (percent: UInt64, free: UInt64)? {
        var status = statvfs()
        guard statvfs(directory, &status) == 0, status.f_blocks > 0 else { return nil }
        let (block, available) = (UInt64(status.f_frsize), UInt64(status.f_bavail))
        let percent = Self.percent(
            used: UInt64(status.f_blocks - status.f_bfree), available: available,
            owed: owed / max(1, block))
        return (percent, available * block)
    }

    /// How much is used, of blocks; `owed` ones are free and count as used.
    static func percent(used: UInt64, available: UInt64, owed: UInt64) -> UInt64 {
        let all = max(1, used + available)
        return ((used + min(owed, available)) * 100 + all - 1) / all
    }

    /// Makes the ballast, where it is not there and there is room for it and more.
    func fillBallast() {
        guard let (percent, free) = use(), percent < Self.percentAgain,
            free > 4 * Self.ballastBytes
        else { return }
        let descriptor = open(ballastPath, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        // Where the file system cannot set blocks aside there is no ballast.
        if posix_fallocate(descriptor, 0, off_t(Self.ballastBytes)) == 0 {
            owesBallast.store(false, ordering: .relaxed)
        }
    }

    /// Gives the ballast's room up. False where there is none left.
    func makeRoom() -> Bool {
        var status = stat()
        guard stat(ballastPath, &status) == 0, status.st_blocks > 0, unlink(ballastPath) == 0
        else { return false }
        owesBallast.store(true, ordering: .relaxed)
        return true
    }

    /// SQLite calls a full disk an I/O error where it maps a file.
    func explaining(_ error: EventLogError) -> EventLogError {
        guard isFull, let (_, free) = use() else { return error }
        return .unusable(
            cause: "the disk of \(directory) is full: \(free >> 10) kB are free, and a start needs "
                + "\(Self.startBytes >> 20) MB",
            hint: "free some space on it, then start again: df -h \(directory) tells whose disk it "
                + "is, du -xh \(directory) what the log takes")
    }
}
