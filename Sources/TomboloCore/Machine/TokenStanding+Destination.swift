extension TokenStanding {
    /// The state of the token that a card needs: its own, or the start token. Nil if none is
    /// needed: the card is over, or it is on a channel.
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
            // The refused token belonged to an earlier card.
            if let since = destination.cardSince, let at = refusal?.at, at < since { refusal = nil }
            // For a swiped card the phase says enough.
            if destination.phase == .gone, refusal?.isMisplaced != true { return nil }
        case .ended, .lapsed, .listening: return nil
        }
    }

    /// True if Apple refused it and there is no other.
    package var isRefused: Bool { !isThere && refusal != nil }
}

/// Pushes that Apple finally refused and whose cause may persist. If the app has registered another
/// token since, a refused token is left out.
package struct RefusedPushes: Sendable {
    package private(set) var count = 0
    package private(set) var newest: DeadLetter?
    /// The newest one that a retry would send.
    package private(set) var retriable: DeadLetter?
    /// The state of the newest one's token, if Apple never accepts it.
    package private(set) var standing: TokenStanding?

    /// - Parameter oldest: older ones are left out.
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

    /// Most letters that are counted.
    private static let countMax = 1_000

    /// Nil if Apple refused the push for another reason than its token.
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
        // Nothing can be done for a device that is gone.
        return device?.standing(of: name)
            ?? TokenStanding(name: name, isThere: false, refusal: nil)
    }
}
