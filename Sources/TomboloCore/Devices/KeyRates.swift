/// How many destinations each API key has reached lately with its starts and ends.
///
/// Requests are counted elsewhere; this limit counts what they cost. A start for a user with 1,000
/// devices is one small request, but writes 1,000 cards. Counts are not stored: a restart forgives.
struct KeyRates: Sendable {
    /// A key that was idle may reach what this time allows at once, and always `burstMin`.
    private static let burst = Span.seconds(10)
    private static let burstMin = 10_000
    private static let keysMax = 1_024

    /// When each key may use its whole burst again. A time in the past means nothing.
    private var fullAt: [AskingKey: Instant] = [:]

    /// True if the key may reach nothing now.
    func isSpent(_ key: AskingKey, _ limits: Limits, now: Instant) -> Bool {
        guard let at = fullAt[key] else { return false }
        let one = Span.seconds(1).nanoseconds / Int64(limits.destinationsPerKeyPerSecond)
        return at - now >= max(Self.burst, Span(nanoseconds: one * Int64(Self.burstMin)))
    }

    /// Counts a start or end. Throws `overloaded` if the key has reached too many destinations.
    mutating func spend(
        _ count: Int, by key: AskingKey, _ limits: Limits, now: Instant
    ) throws(Refusal) {
        guard count > 0, key != .unknown, key != .relay else { return }
        let one = Span.seconds(1).nanoseconds / Int64(limits.destinationsPerKeyPerSecond)
        let burst = max(Self.burst, Span(nanoseconds: one * Int64(Self.burstMin)))
        // What is larger than all that an idle key may reach passes, too, where the key is idle.
        let cost = min(burst, Span(nanoseconds: one).times(Int64(count)))
        let next = max(now, fullAt[key] ?? now) + cost
        guard next - now <= burst else {
            var refusal = Refusal(
                .overloaded,
                "starts and ends of this key reach more than "
                    + "\(limits.destinationsPerKeyPerSecond) destinations a second; send again "
                    + "later, or raise limits.destinations_per_key_per_second in the configuration")
            refusal.retryAfter = next - now - burst
            throw refusal
        }
        if fullAt.count >= Self.keysMax { fullAt = fullAt.filter { $0.value > now } }
        fullAt[key] = next
    }
}
