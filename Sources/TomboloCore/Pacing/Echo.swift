/// How often the last change was repeated without a sign that it was lost (pacing rule 15). A push
/// that Apple accepted may not have arrived.
package struct Echo: Hashable, Sendable {
    /// Maximum number of repetitions of a change.
    package static let countMax = 2

    /// The version to which `count` belongs.
    var version: Int64
    private var signOrNever = Instant.distantPast
    private var times: UInt8

    init(version: Int64 = 0, count: Int = 0) {
        self.version = version
        times = UInt8(clamping: count)
    }

    /// Number of repetitions of `version`; `countMax` if the phone has confirmed it.
    var count: Int {
        get { Int(times) }
        set { times = UInt8(clamping: newValue) }
    }

    /// When the device's first request after the last push came, in monotonic time; nil: none came.
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

    /// Does not count a repetition that certainly did not reach the phone: it is due again.
    mutating func takeBack(_ version: Int64, sentAt: Instant) {
        guard self.version == version else { return }
        count = max(0, count - 1)
        signAt = sentAt + Span(nanoseconds: 1)
    }

    /// Notes that the phone has reported the version, so that it needs no repetition.
    mutating func confirmed(_ version: Int64) {
        self = Echo(version: version, count: Self.countMax)
    }
}
