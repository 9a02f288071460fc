/// How often the last change was repeated without known need (pacing rule 15), because a push that
/// Apple accepted may not have been received.
package struct Echo: Hashable, Sendable {
    /// Echoes of each change, at most.
    package static let countMax = 2

    /// The version that `count` belongs to.
    var version: Int64
    private var signOrNever = Instant.distantPast
    private var times: UInt8

    init(version: Int64 = 0, count: Int = 0) {
        self.version = version
        times = UInt8(clamping: count)
    }

    /// Echoes of that version; `countMax` also if the phone has confirmed the version.
    var count: Int {
        get { Int(times) }
        set { times = UInt8(clamping: newValue) }
    }

    /// The device's last sign of life since the last send, in monotonic time.
    var signAt: Instant? {
        get { signOrNever == .distantPast ? nil : signOrNever }
        set { signOrNever = newValue ?? .distantPast }
    }

    func count(of version: Int64) -> Int { self.version == version ? count : 0 }

    mutating func sent(_ version: Int64) {
        count = count(of: version) + 1
        self.version = version
        signAt = nil
    }

    /// An attempt that surely had no effect does not count: its echo is still due.
    mutating func takeBack(_ version: Int64, sentAt: Instant) {
        guard self.version == version else { return }
        count = max(0, count - 1)
        signAt = sentAt + Span(nanoseconds: 1)
    }

    /// The phone itself has reported that it shows the version.
    mutating func confirmed(_ version: Int64) {
        self = Echo(version: version, count: Self.countMax)
    }
}
