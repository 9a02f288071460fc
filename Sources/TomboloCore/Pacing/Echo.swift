/// How often the last change was sent once more without need (pacing rule 15): an accepted push is
/// no receipt.
package struct Echo: Hashable, Sendable {
    /// At most so many for each change.
    package static let countMax = 2

    /// The version that `count` is of.
    var version: Int64
    private var signOrNever = Instant.distantPast
    private var times: UInt8

    init(version: Int64 = 0, count: Int = 0) {
        self.version = version
        times = UInt8(clamping: count)
    }

    /// Of that version; `countMax` also where the phone has confirmed it.
    var count: Int {
        get { Int(times) }
        set { times = UInt8(clamping: newValue) }
    }

    /// The device's last sign of life since the last send, by steady time.
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

    /// An attempt that surely came to nothing was none: what it was for is still to come.
    mutating func takeBack(_ version: Int64, sentAt: Instant) {
        guard self.version == version else { return }
        count = max(0, count - 1)
        signAt = sentAt + Span(nanoseconds: 1)
    }

    /// The phone itself says that it shows it.
    mutating func confirmed(_ version: Int64) {
        self = Echo(version: version, count: Self.countMax)
    }
}
