import TomboloAPI
import TomboloHTTP
import TomboloLoop

/// Limits requests without a valid key for each address, and counts them. The key is checked first:
/// a valid key is never affected.
struct RefusedKeys {
    private var allowances: HTTPAddressAllowances
    private let perSecond: Int
    /// Requests answered with 401.
    private(set) var refused: Int64 = 0
    /// Requests answered with 429.
    private(set) var slowed: Int64 = 0
    /// Refused registrations of devices by minute, for the last few minutes.
    private var registrations: [(minute: Int64, count: Int64)] = []

    /// Number of minutes for which refused registrations are counted.
    static let registrationMinutes: Int64 = 5

    init(_ configuration: DoorsConfiguration) {
        perSecond = configuration.refusedKeysPerSecond
        allowances = HTTPAddressAllowances(
            burst: configuration.refusedKeysBurst, perSecond: perSecond)
    }

    /// Registrations refused with 401 in the last minutes.
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

    /// The answer to a refusal: 429 instead if its address had too many.
    mutating func answer(
        _ refusal: Problem, to operation: Operation, of host: String, now: MonotonicInstant
    ) -> Problem {
        guard refusal.code == .unauthorized else { return refusal }
        guard allowances.takeOne(host: host, now: now) else {
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
