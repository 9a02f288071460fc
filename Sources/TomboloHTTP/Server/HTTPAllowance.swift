package import TomboloLoop

/// How often a peer may still do something: a token bucket. Pure.
package struct HTTPAllowance {
    private let burst: Double
    private let perSecond: Double
    private var tokens: Double
    private var countedAt: MonotonicInstant

    /// Starts full.
    package init(burst: Int, perSecond: Int, now: MonotonicInstant) {
        self.burst = Double(burst)
        self.perSecond = Double(perSecond)
        tokens = Double(burst)
        countedAt = now
    }

    /// True if the bucket is full.
    package func isFull(now: MonotonicInstant) -> Bool { filled(now) >= burst }

    /// Takes `count` tokens. Returns false, and takes none, if there are too few.
    package mutating func take(_ count: Int = 1, now: MonotonicInstant) -> Bool {
        tokens = filled(now)
        countedAt = now
        guard tokens >= Double(count) else { return false }
        tokens -= Double(count)
        return true
    }

    /// Adds tokens that the peer has earned, up to `burst` in total.
    package mutating func earn(_ count: Int) { tokens = min(burst, tokens + Double(count)) }

    private func filled(_ now: MonotonicInstant) -> Double {
        min(burst, tokens + Double((now - countedAt).nanoseconds) / 1e9 * perSecond)
    }
}

/// One allowance for each IPv4 address and each IPv6 network of 64 bits. Full ones may be dropped.
package struct HTTPAddressAllowances {
    /// Maximum number of addresses. If more allowances than this are in use, all start again full.
    private static let addressesMax = 10_000

    private let burst: Int
    private let perSecond: Int
    private var allowances: [String: HTTPAllowance] = [:]

    package init(burst: Int, perSecond: Int) {
        self.burst = burst
        self.perSecond = perSecond
    }

    /// Takes one token of the peer with this numeric address.
    package mutating func takeOne(host: String, now: MonotonicInstant) -> Bool {
        takeOne(network: SocketAddress.network(ofHost: host), now: now)
    }

    mutating func takeOne(network address: String, now: MonotonicInstant) -> Bool {
        if allowances.count >= Self.addressesMax, allowances[address] == nil {
            allowances = allowances.filter { !$0.value.isFull(now: now) }
            if allowances.count >= Self.addressesMax { allowances = [:] }
        }
        let full = HTTPAllowance(burst: burst, perSecond: perSecond, now: now)
        return allowances[address, default: full].take(now: now)
    }
}
