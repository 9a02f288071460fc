/// The device tokens that Apple has issued: the topic of each, and whether it is still valid.
package struct DeviceTokenRegistry: Sendable {
    /// Rate limit of pushes to one token. Apple publishes no number.
    package struct RequestLimit: Hashable, Sendable {
        package var burst: Double
        package var perSecond: Double

        /// Far above one push per second, which Apple's staff named as the limit for one activity.
        package static let standard = RequestLimit(burst: 100, perSecond: 10)
    }

    struct Entry: Sendable {
        var topic: PushTopic
        var environment: PushEnvironment
        var retirement: Refusal?
        var bucket: TokenBucket?
    }

    private var entries: [String: Entry] = [:]
    /// Retired tokens in the order of their retirement, so that the oldest can be dropped first.
    private var retired: [String] = []

    /// Maximum number of retired tokens that are kept. Pushes to older ones get `BadDeviceToken`,
    /// as if the token had never been issued.
    package static let retiredTokensMax = 100_000

    package init() {}

    /// Registers a token. `token` is lower-case hex. A nil `limit` means no rate limit (no 429).
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

    /// Retires a token from `now` on: its pushes get 410 with `reason` (`unregistered` or
    /// `expiredToken`).
    ///
    /// Has no effect on a token that was never issued or is already retired.
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

    /// Counts one request against the token's rate limit. Returns false if the limit is exceeded.
    mutating func takeRequest(of token: String, at now: WallInstant) -> Bool {
        guard let index = entries.index(forKey: token) else { return true }
        return entries.values[index].bucket?.take(at: now) ?? true
    }
}
