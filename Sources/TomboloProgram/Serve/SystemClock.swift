import CLinux
import Glibc
package import TomboloCore
import TomboloPostgres
import TomboloRelay

/// The machine's clocks.
package struct SystemClock: WallClock {
    /// What the clock of another machine said, and when (`sinceBoot`).
    private var other: (reading: PostgresReading, at: Double)?

    package init() {}

    /// - Parameter reading: what the clock of the machine of the last relay says now.
    init(after reading: PostgresReading?) {
        other = reading.map { ($0, Self.sinceBoot()) }
    }

    package func monotonic(ofBoot boot: String) -> Int64? {
        guard let (reading, at) = other, reading.boot == boot else { return nil }
        return reading.nanoseconds + Int64((Self.sinceBoot() - at) * 1e9)
    }

    /// What this machine's monotonic clock says, which is the loop's.
    static func reading() -> PostgresReading {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return (bootOfMachine, Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// The kernel's random id of this boot.
    package var boot: String { Self.bootOfMachine }

    private static let bootOfMachine = bootID()

    package func now() -> Instant {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Self.instant(time)
    }

    /// Seconds since boot, including time in which the machine slept.
    package static func sinceBoot() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Limits the time to the range of `Instant`, so that a clock after 2262 does not trap.
    static func instant(_ time: timespec) -> Instant {
        Instant(seconds: Int64(time.tv_sec)) + Span(nanoseconds: Int64(time.tv_nsec))
    }

    private static func bootID() -> String {
        let file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(file, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)).prefix { $0 > 0x20 }, as: UTF8.self)
    }
}
