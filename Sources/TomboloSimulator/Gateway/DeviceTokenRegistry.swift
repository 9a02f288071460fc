/// The device tokens Apple has issued: whose they are, for which topic, and which are gone.
package struct DeviceTokenRegistry: Sendable {
    /// How fast one token may be pushed to. Apple publishes no number.
    package struct RequestLimit: Hashable, Sendable {
        package var burst: Double
        package var perSecond: Double

        package init(burst: Double, perSecond: Double) {
            self.burst = burst
            self.perSecond = perSecond
        }

        /// Far above a push a second, which is what Apple's staff call the limit of one activity.
        package static let standard = RequestLimit(burst: 100, perSecond: 10)
    }

    struct Entry: Sendable {
        var topic: PushTopic
        var environment: PushEnvironment
        var retirement: Refusal?
        var bucket: TokenBucket?
    }

    private var entries: [String: Entry] = [:]
    /// Retired tokens in the order of their retirement, so that the oldest are forgotten first.
    private var retired: [String] = []

    /// Retired tokens remembered; older ones are answered `BadDeviceToken`, as if never issued.
    package static let retiredTokensMax = 100_000

    package init() {}

    /// Makes a token known. `token`: lower-case hex. `limit` nil: never 429.
    package mutating func issue(
        _ token: String, topic: PushTopic, environment: PushEnvironment,
        limit: RequestLimit?, at now: WallInstant
    ) {
        let bucket = limit.map {
            TokenBucket(depth: $0.burst, perHour: $0.perSecond * 3_600, at: now)
        }
        entries[token] = Entry(
            topic: topic, environment: environment, retirement: nil, bucket: bucket)
    }

    /// Declares a token dead from `now` on: 410 with `reason` (`unregistered` or `expiredToken`).
    ///
    /// A token that was never issued, or is retired already, stays as it is.
    package mutating func retire(
        _ token: String, reason: RefusalReason = .unregistered, at now: WallInstant
    ) {
        guard entries[token] != nil, entries[token]?.retirement == nil else { return }
        entries[token]?.retirement = Refusal(reason, timestamp: now.milliseconds)
        retired.append(token)
        if retired.count >= Self.retiredTokensMax * 2 {
            for old in retired.prefix(Self.retiredTokensMax) { entries[old] = nil }
            retired.removeFirst(Self.retiredTokensMax)
        }
    }

    func entry(_ token: String) -> Entry? { entries[token] }

    /// Takes one request's share of the token's rate; true where it has none.
    mutating func take(_ token: String, at now: WallInstant) -> Bool {
        guard let index = entries.index(forKey: token) else { return true }
        return entries.values[index].bucket?.take(at: now) ?? true
    }
}
