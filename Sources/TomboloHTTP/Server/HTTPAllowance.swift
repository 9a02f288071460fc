package import TomboloLoop

/// How much of something a peer may still do: a bucket that fills at a steady rate. Pure.
package struct HTTPAllowance {
    private let burst: Double
    private let perSecond: Double
    private var tokens: Double
    private var countedAt: MonotonicInstant

    /// Full at first.
    package init(burst: Int, perSecond: Int, now: MonotonicInstant) {
        self.burst = Double(burst)
        self.perSecond = Double(perSecond)
        tokens = Double(burst)
        countedAt = now
    }

    /// Whether it is as at first.
    package func isFull(now: MonotonicInstant) -> Bool { filled(now) >= burst }

    /// Counts some, and answers whether they were still allowed.
    package mutating func take(_ count: Int = 1, now: MonotonicInstant) -> Bool {
        tokens = filled(now)
        countedAt = now
        guard tokens >= Double(count) else { return false }
        tokens -= Double(count)
        return true
    }

    /// The peer has earned more, never beyond the burst.
    package mutating func earn(_ count: Int) { tokens = min(burst, tokens + Double(count)) }

    private func filled(_ now: MonotonicInstant) -> Double {
        min(burst, tokens + Double((now - countedAt).nanoseconds) / 1e9 * perSecond)
    }
}

/// An allowance for each address, in IPv6 for each network of 64 bits, kept while it is not full.
package struct HTTPAddressAllowances {
    /// More addresses are not kept apart: then all begin anew, which is what they had an hour ago.
    private static let addressesMax = 10_000

    private let burst: Int
    private let perSecond: Int
    private var allowances: [String: HTTPAllowance] = [:]

    package init(burst: Int, perSecond: Int) {
        self.burst = burst
        self.perSecond = perSecond
    }

    /// Counts one of the peer with this address in numbers.
    package mutating func take(host: String, now: MonotonicInstant) -> Bool {
        take(SocketAddress.network(ofHost: host), now: now)
    }

    mutating func take(_ address: String, now: MonotonicInstant) -> Bool {
        if allowances.count >= Self.addressesMax, allowances[address] == nil {
            allowances = allowances.filter { !$0.value.isFull(now: now) }
            if allowances.count >= Self.addressesMax { allowances = [:] }
        }
        let full = HTTPAllowance(burst: burst, perSecond: perSecond, now: now)
        return allowances[address, default: full].take(now: now)
    }
}
