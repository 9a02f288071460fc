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

    init(_ configuration: DoorsConfiguration) {
        perSecond = configuration.refusedKeysPerSecond
        allowances = HTTPAddressAllowances(
            burst: configuration.refusedKeysBurst, perSecond: perSecond)
    }

    /// What a refusal becomes where its address has had too many of them.
    mutating func answer(
        _ refusal: Problem, to host: String, now: MonotonicInstant
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
        return refusal
    }
}
