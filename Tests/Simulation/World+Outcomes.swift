import TomboloCore
import TomboloEventLog
import TomboloJSON
import TomboloRelay

// The history tells of each card that began, and of each that is gone, once.

extension World {
    /// A device that comes back, or a log that was put back, begins its cards again.
    private static let restarting: FaultSet = [
        FaultSet(.deletedDevices), FaultSet(.deletions), FaultSet(.secondIDs),
        FaultSet(.changedUsers), FaultSet(.restores), FaultSet(.months), FaultSet(.strangers),
        FaultSet(.wrongTokens), FaultSet(.startTokens),
    ]

    /// The steps of one card, in the order of the history.
    private struct Story: Hashable {
        var tenant: TenantID
        var phone: Identifier
        var card: String
    }

    func checkOutcomes(_ relay: Relay) async {
        guard faults.isDisjoint(with: Self.restarting) else { return }
        var stories: [Story: [String]] = [:]
        for tenant in Set(phones.map(\.tenant)) {
            guard await read(relay, tenant, into: &stories) else { return }
        }
        for (story, steps) in stories.sorted(by: { $0.key.card < $1.key.card }) {
            let twice = zip(steps, steps.dropFirst()).first { $0 == $1 }
            let isOver = steps.dropLast().contains("card.dismissed")
            guard twice != nil || isOver else { continue }
            violated(.outcomes, "\(story.card) at \(story.phone): \(steps)")
        }
        for phone in phones {
            for card in phone.sortedCards where isKnown(card, phone) {
                let story = Story(tenant: phone.tenant, phone: phone.id, card: card.name)
                guard stories[story]?.contains("card.began") != true else { continue }
                violated(.outcomes, "\(card.name) at \(phone.id): nothing says that it began")
            }
        }
    }

    /// Whether the relay has stored the token of a card that lives, of an activity that runs.
    private func isKnown(_ card: Card, _ phone: Phone) -> Bool {
        guard card.isRegistered, card.channel == nil, !card.isDismissed, !card.hasEnded,
            !card.isLapsed, !card.isUnnamed, !card.isStranded, !card.isLeft,
            phone.cards[card.reference] === card,
            let model = reference.model(tenant: phone.tenant, id: card.reference.id.rawValue)?.1
        else { return false }
        return !model.hasEnded && model.incarnation == card.reference.incarnation
    }

    private func read(
        _ relay: Relay, _ tenant: TenantID, into stories: inout [Story: [String]]
    ) async -> Bool {
        var query = FactQuery(tenant: tenant)
        query.kinds = ["card.began", "card.lost", "card.ended", "card.dismissed"]
        query.limit = 1_000
        do {
            while true {
                let page = try await relay.facts(query)
                for fact in page.facts.map(\.fact) {
                    // The relay wrote it.
                    guard let view = (try? JSONDocument(fact.body))?.root,
                        case .device(let phone)? = Recipient(view), let card = view["card"]?.string
                    else { continue }
                    let story = Story(tenant: tenant, phone: phone, card: card)
                    stories[story, default: []].append(fact.kind)
                }
                guard let next = page.next else { return true }
                query.goOn(at: next)
            }
        } catch {
            violated(.outcomes, "the history cannot be read: \(error)")
            return false
        }
    }
}
