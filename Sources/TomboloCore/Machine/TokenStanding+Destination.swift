extension TokenStanding {
    /// What is known of the token without which nothing goes to a card: its own, or the one that
    /// starts it. Nil where none is wanted: its card is over, or is no device's.
    init?(of destination: Destination, in core: Core) {
        guard let device = core.devices[destination.device], device.channel == nil else {
            return nil
        }
        switch destination.phase {
        case .waiting:
            let type = core.activities[destination.activity].definition.type
            self = device.standing(of: .start(type: type))
        case .started, .live, .gone, .starting, .startUnknown:
            self = device.standing(of: .activity(core.reference(destination)))
            // The refused token was that of a card before.
            if let since = destination.cardSince, let at = refusal?.at, at < since { refusal = nil }
            // That a card was swiped away is known by its phase.
            if destination.phase == .gone, refusal?.isMisplaced != true { return nil }
        case .ended, .lapsed, .listening: return nil
        }
    }

    /// Apple refused it, and there is no other.
    package var isRefused: Bool { !isThere && refusal != nil }
}

/// Pushes that Apple refused for good, and whose cause may still be there: a push whose token it
/// refused is history once the app has registered another.
package struct RefusedPushes: Sendable {
    package private(set) var count = 0
    package private(set) var newest: DeadLetter?
    /// The newest that would go if it were retried.
    package private(set) var retriable: DeadLetter?
    /// Of the newest one's token, where Apple never takes that.
    package private(set) var standing: TokenStanding?

    /// - Parameter oldest: older ones are history.
    package init(of tenant: TenantID, since oldest: Instant, in core: Core) {
        let letters = core.deadLetters.page(
            DeadLetterQuery(tenant: tenant), before: nil, limit: Self.countMax
        ).letters.prefix { $0.at >= oldest }
        for letter in letters {
            let standing = Self.standing(letter, core)
            if let standing, !standing.isRefused { continue }
            count += 1
            if newest == nil { (newest, self.standing) = (letter, standing) }
            if standing == nil, retriable == nil { retriable = letter }
        }
    }

    /// So many are counted.
    private static let countMax = 1_000

    /// Nil where Apple refused the push for another reason than its token.
    private static func standing(_ letter: DeadLetter, _ core: Core) -> TokenStanding? {
        guard ["BadDeviceToken", "DeviceTokenNotForTopic"].contains(letter.reason),
            let activity = core.activities.slot(of: letter.activity)
        else { return nil }
        let name: TokenName =
            letter.event == .start
            ? .start(type: core.activities[activity].definition.type)
            : .activity(
                ActivityReference(
                    id: letter.activity.id, incarnation: letter.incarnation,
                    renewal: letter.renewal))
        let key = DeviceKey(tenant: letter.activity.tenant, id: letter.device)
        let device = core.devices.slot(of: key).flatMap { core.devices[$0] }
        // Of a device that is gone there is nothing to do.
        return device?.standing(of: name)
            ?? TokenStanding(name: name, isThere: false, refusal: nil)
    }
}
