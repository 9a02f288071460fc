extension Lint {
    /// A lint about the first of an activity's cards whose token Apple has refused, among as many
    /// as `cardsMax`.
    static func ofRefusedTokens(_ activity: Activity, in core: borrowing Core) -> [Lint] {
        let cardsMax = 16
        for slot in activity.destinations.prefix(cardsMax) where core.destinations.holds(slot) {
            let hasRetired = core.devices.inspect(core.destinations[slot].device) { $0.hasRetired }
            guard hasRetired == true, let destination = core.destinations.at(slot),
                destination.incarnation == activity.incarnation,
                let standing = TokenStanding(of: destination, in: core),
                let lint = ofRefusal(standing, on: core.devices[destination.device]?.key.id, "")
            else { continue }
            return [lint]
        }
        return []
    }
}

extension TokenStanding {
    /// What is known about the token that a card needs: its update token, or the start token. Nil
    /// if the card needs none, because it is over or listens on a channel.
    init?(of destination: Destination, in core: borrowing Core) {
        guard let device = core.devices[destination.device], device.channel == nil else {
            return nil
        }
        switch destination.phase {
        case .waiting:
            let type = core.activities[destination.activity].definition.type
            self = device.standing(of: .start(type: type))
        case .started, .live, .gone, .starting, .startUnknown:
            self = device.standing(of: .activity(core.reference(destination)))
            // The refusal is older than the card, so it was for an earlier card's token.
            if let since = destination.cardSince, let at = refusal?.at,
                at < core.clock.shown(at: since)
            {
                refusal = nil
            }
            // If the user dismissed the card, its phase says enough.
            if destination.phase == .gone, refusal?.isMisplaced != true { return nil }
        case .ended, .lapsed, .listening: return nil
        }
    }

    /// True if Apple has refused the token and the device has no other.
    package var isRefused: Bool { !isThere && refusal != nil }
}

/// Dead letters whose cause may persist. Those for a wrong token do not count after the app has
/// registered another token.
package struct RefusedPushes: Sendable {
    package private(set) var count = 0
    package private(set) var newest: DeadLetter?
    /// The time of the oldest one; nil if there is none.
    package private(set) var since: Instant?
    /// The newest letter that a retry could send.
    package private(set) var retriable: DeadLetter?
    /// What is known about the token of `newest`, if that was refused for its token.
    package private(set) var standing: TokenStanding?

    /// - Parameter oldest: letters from before this time do not count.
    package init(of tenant: TenantID, since oldest: Instant, in core: borrowing Core) {
        let letters = core.deadLetters.page(
            DeadLetterQuery(tenant: tenant), before: nil, limit: Self.countMax
        ).letters.prefix { $0.at >= oldest }
        for letter in letters {
            let standing = Self.standing(letter, core)
            if let standing, !standing.isRefused { continue }
            count += 1
            since = letter.at
            if newest == nil { (newest, self.standing) = (letter, standing) }
            if standing == nil, retriable == nil { retriable = letter }
        }
    }

    /// Maximum number of letters that are looked at.
    private static let countMax = 1_000

    /// What is known about a letter's token; nil if Apple refused the push for another reason.
    private static func standing(_ letter: DeadLetter, _ core: borrowing Core) -> TokenStanding? {
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
        // If the device is gone, nothing can be done about its token.
        return device?.standing(of: name)
            ?? TokenStanding(name: name, isThere: false, refusal: nil)
    }
}
