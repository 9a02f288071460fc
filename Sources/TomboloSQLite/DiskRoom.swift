import Glibc
import Synchronization
import TomboloCore
import TomboloEventLog
import TomboloLog

/// Measures the free space of the log's file system. It also keeps a ballast: a file of fixed size
/// that the relay deletes when the disk is full, to gain space. SQLite needs free space even to
/// delete rows, so the relay refuses events before the disk is full. If other programs fill the
/// disk, the ballast's space lets the relay record what it sent.
final class DiskRoom: LogRoom {
    /// Events are refused while at least this share of the file system is used, in percent.
    static let percentMax: UInt64 = 90
    /// Once refused, events are accepted again below this share. It is lower than `percentMax`, so
    /// that a small change of the free space does not switch the state each time.
    static let percentAgain: UInt64 = 88
    /// With at least this much free space, nothing is refused, whatever the percentage.
    static let bytesPlenty: UInt64 = 4 << 30
    /// With at least this much free space, it is measured once in `measuresEach`. A disk that loses
    /// half of it in that time is rare, and then SQLite says that it is full.
    static let bytesAmple: UInt64 = 2 * bytesPlenty
    static let measuresEach = Span.seconds(1)
    /// Size of the ballast: enough for several batches of checkpoints and facts.
    static let ballastBytes: UInt64 = 8 << 20
    /// Free space that a start needs: the index of the write-ahead log, and the first batch.
    static let startBytes: UInt64 = 2 << 20

    private let directory: String
    private let isRefusing = Atomic(false)
    /// True if the ballast was deleted. Until it exists again, its size counts as used space.
    private let owesBallast = Atomic(false)
    /// Until when there is certainly space, in nanoseconds of the relay's steady clock.
    private let ampleUntil = Atomic(Int64.min)

    init(directory: String) { self.directory = directory }

    private var ballastPath: String { directory + "/tombolo.ballast" }

    /// True if events may be appended. Also true if the file system reports no sizes.
    func isThere(now: Instant) -> Bool {
        guard now.nanoseconds >= ampleUntil.load(ordering: .relaxed) else { return true }
        let owes = owesBallast.load(ordering: .relaxed)
        guard let (percent, free) = use(owing: owes ? Self.ballastBytes : 0) else { return true }
        let refuses = Self.refuses(
            percent: percent, free: free, already: isRefusing.load(ordering: .relaxed))
        isRefusing.store(refuses, ordering: .relaxed)
        if owes, !refuses { fillBallast() }
        ampleUntil.store(Self.ampleUntil(free: free, now: now).nanoseconds, ordering: .relaxed)
        return !refuses
    }

    /// True if there is too little space for a start.
    var isFull: Bool { use().map { $0.free < Self.startBytes } ?? false }

    /// True if events are refused on a file system with `percent` used and `free` bytes left.
    /// `already` tells whether events are refused up to now.
    static func refuses(percent: UInt64, free: UInt64, already: Bool) -> Bool {
        percent >= (already ? percentAgain : percentMax) && free < bytesPlenty
    }

    /// Until when a disk with `free` bytes left certainly has space.
    static func ampleUntil(free: UInt64, now: Instant) -> Instant {
        free >= bytesAmple ? now + measuresEach : .distantPast
    }

    /// Used percentage as `df` shows it, and free bytes.
    ///
    /// - Parameter owed: number of free bytes that count as used.
    private func use(owing owed: UInt64 = 0) -> (percent: UInt64, free: UInt64)? {
        var status = statvfs()
        guard statvfs(directory, &status) == 0, status.f_blocks > 0 else { return nil }
        let (block, available) = (UInt64(status.f_frsize), UInt64(status.f_bavail))
        let percent = Self.percent(
            used: UInt64(status.f_blocks - status.f_bfree), available: available,
            owed: owed / max(1, block))
        return (percent, available * block)
    }

    /// Used percentage of blocks; `owed` free blocks count as used.
    static func percent(used: UInt64, available: UInt64, owed: UInt64) -> UInt64 {
        let all = max(1, used + available)
        return ((used + min(owed, available)) * 100 + all - 1) / all
    }

    /// Creates the ballast if it does not exist and there is more than enough space.
    func fillBallast() {
        guard let (percent, free) = use(), percent < Self.percentAgain,
            free > 4 * Self.ballastBytes
        else { return }
        let descriptor = open(ballastPath, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        // If the file system cannot reserve blocks, there is no ballast.
        if posix_fallocate(descriptor, 0, off_t(Self.ballastBytes)) == 0 {
            owesBallast.store(false, ordering: .relaxed)
        }
    }

    /// Deletes the ballast. Returns false if there is none.
    func makeRoom() -> Bool {
        var status = stat()
        guard stat(ballastPath, &status) == 0, status.st_blocks > 0, unlink(ballastPath) == 0
        else { return false }
        owesBallast.store(true, ordering: .relaxed)
        return true
    }

    /// SQLite reports a full disk as an I/O error when it maps a file. This replaces such an error.
    func explaining(_ error: EventLogError) -> EventLogError {
        guard isFull, let (_, free) = use() else { return error }
        return .unusable(
            cause: "the disk of \(directory) is full: \(free >> 10) kB are free, and a start needs "
                + "\(Self.startBytes >> 20) MB",
            hint: "free some space on it, then start again: df -h \(directory) tells whose disk it "
                + "is, du -xh \(directory) what the log takes")
    }
}
