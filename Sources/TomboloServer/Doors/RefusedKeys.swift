import TomboloAPI
import TomboloHTTP
import TomboloLoop

/// Requests without a valid key: so many of one address, and how many there were. The key is looked
/// at first: a valid one is served whatever else comes from its address.
struct RefusedKeys {
    private var allowances: HTTPAddressAllowances
    private let perSecond: Int
    /// Answered 401.
    private(set) var refused: Int64 = 0
    /// Answered 429.
    private(set) var slowed: Int64 = 0
    /// Registrations of devices among those refused, by minute; the last few minutes' only.
    private var registrations: [(minute: Int64, count: Int64)] = []

    /// So many minutes of refused registrations are remembered.
    static let registrationMinutes: Int64 = 5

    init(_ configuration: DoorsConfiguration) {
        perSecond = configuration.refusedKeysPerSecond
        allowances = HTTPAddressAllowances(
            burst: configuration.refusedKeysBurst, perSecond: perSecond)
    }

    /// Registrations that were refused with 401 in the last minutes.
    func registrationsRefused(now: MonotonicInstant) -> Int64 {
        let oldest = Self.minute(of: now) - Self.registrationMinutes
        return registrations.reduce(0) { $1.minute > oldest ? $0 + $1.count : $0 }
    }

    private mutating func noteRegistration(now: MonotonicInstant) {
        let minute = Self.minute(of: now)
        if registrations.last?.minute != minute { registrations.append((minute, 0)) }
        registrations[registrations.count - 1].count += 1
        if registrations.count > Self.registrationMinutes { registrations.removeFirst() }
    }

    private static func minute(of now: MonotonicInstant) -> Int64 {
        now.nanoseconds / 60_000_000_000
    }

    /// What a refusal becomes where its address has had too many of them.
    mutating func answer(
        _ refusal: Problem, to operation: Operation, of host: String, now: MonotonicInstant
    ) -> Problem {
        guard refusal.code == .unauthorized else { return refusal }
        guard allowances.take(host: host, now: now) else {
            slowed += 1
            return Problem(
                .overloaded,
                "This address sends more than \(perSecond) requests without a valid key in a "
                    + "second. Send a valid key, or raise limits.refused_keys_per_second in the "
                    + "relay's configuration.")
        }
        refused += 1
        if operation == .registerDevice { noteRegistration(now: now) }
        return refusal
    }
}
