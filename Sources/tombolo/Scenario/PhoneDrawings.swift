import TomboloCore
import TomboloJSON

/// The pictures that the simulated phones drew of some activities, read from `/v1/phones`.
struct PhoneDrawings: Sendable {
    /// A card: its phone and its activity.
    struct Card: Hashable, Sendable {
        var phone: String
        var activity: String
    }

    /// Most pictures that are kept for a phone: the first ones are enough.
    private static let sequenceMax = 500

    /// The newest picture of each card.
    private(set) var newest: [Card: JSON] = [:]
    /// Every picture that was seen, by phone. Polling misses some.
    private var seen: [String: Set<[UInt8]>] = [:]
    /// The pictures of each phone in order, without repetitions.
    private(set) var sequences: [String: [JSON]] = [:]
    /// The pictures of each card in order, without repetitions.
    private(set) var cardSequences: [Card: [JSON]] = [:]
    /// True if this relay has simulated phones.
    private(set) var areThere = true

    /// Polls the phones for the cards of activities whose id begins with `prefix`.
    mutating func look(_ client: RelayClient, at prefix: String) async throws {
        guard areThere else { return }
        let answer: RelayAnswer
        do throws(ProgramError) {
            answer = try await client.send(RelayRequest("GET", "/v1/phones"), name: nil)
        } catch {
            guard error.status == .notFoundOrConflict else { throw error }
            areThere = false
            return
        }
        for page in try answer.document().root["phones"]?.elements.map({ $0 }) ?? [] {
            let phone = page["phone"]?.string ?? ""
            for card in page["cards"]?.elements.map({ $0 }) ?? [] {
                guard let activity = card["activity"]?.string, activity.hasPrefix(prefix),
                    (card["drawn"]?.integer ?? 0) > 0, let state = card["drawn_state"]?.json
                else { continue }
                let place = Card(phone: phone, activity: activity)
                if newest.updateValue(state, forKey: place) != state,
                    sequences[phone, default: []].count < Self.sequenceMax
                {
                    sequences[phone, default: []].append(state)
                    cardSequences[place, default: []].append(state)
                }
                seen[phone, default: []].insert(state.bytes)
            }
        }
    }

    /// The number of different pictures that a phone drew; nil without simulated phones.
    func pictures(of phone: String) -> Int? { areThere ? seen[phone]?.count ?? 0 : nil }
}
