import Glibc
import TomboloServer

/// Resources that this process uses, read from `/proc` (proc(5)) and from the log's disk. A value
/// that cannot be read is 0.
struct MachineReader {
    /// The data directory; nil if the log is in a database.
    let data: String?

    var view: MachineView {
        var view = MachineView()
        if let data {
            view.logBytes = Self.logFiles.reduce(0) { $0 + size("\(data)/\($1)") }
            var disk = statvfs()
            let isKnown = statvfs(data, &disk) == 0
            view.diskFreeBytes = isKnown ? Int64(disk.f_bavail) * Int64(disk.f_frsize) : 0
        }
        var usage = rusage()
        if getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0 {
            view.cpuSeconds = Self.seconds(usage.ru_utime) + Self.seconds(usage.ru_stime)
        }
        let pages = Self.words("/proc/self/statm")
        if pages.count > 1 { view.residentBytes = pages[1] * Int64(sysconf(Int32(_SC_PAGESIZE))) }
        view.openDescriptors = Self.openDescriptors
        var most = rlimit()
        if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &most) == 0 {
            view.mostDescriptors = Int64(clamping: most.rlim_cur)
        }
        view.startedAt = Self.startedAt
        return view
    }

    /// The log's files: the database, its write-ahead log and index, and the ballast.
    private static let logFiles = [
        "tombolo.db", "tombolo.db-wal", "tombolo.db-shm", "tombolo.ballast",
    ]

    private func size(_ path: String) -> Int64 {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : 0
    }

    private static func seconds(_ time: timeval) -> Double {
        Double(time.tv_sec) + Double(time.tv_usec) / 1e6
    }

    private static func text(_ path: String) -> String {
        String(decoding: (try? FileBytes.read(path)) ?? [], as: UTF8.self)  // unreadable: empty
    }

    private static func words(_ path: String) -> [Int64] {
        text(path).split(separator: " ").map { Int64($0) ?? 0 }
    }

    private static var openDescriptors: Int64 {
        guard let directory = opendir("/proc/self/fd") else { return 0 }
        defer { closedir(directory) }
        var count: Int64 = 0
        while readdir(directory) != nil { count += 1 }
        // Do not count this directory's own descriptor, `.` and `..`.
        return max(0, count - 3)
    }

    /// When this process began, in Unix seconds: the machine's boot time plus field 22 of stat,
    /// which is in ticks. Skip the second field first, because it may contain spaces.
    private static var startedAt: Double {
        let boot = text("/proc/stat").split(separator: "\n").lazy
            .first { $0.hasPrefix("btime ") }?.dropFirst("btime ".count)
        let stat = text("/proc/self/stat")
        let rest = stat[(stat.lastIndex(of: ")") ?? stat.startIndex)...].split(separator: " ")
        guard let boot = boot.flatMap({ Double($0) }), rest.count > 20,
            let ticks = Double(rest[20])
        else { return 0 }
        return boot + ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
}
