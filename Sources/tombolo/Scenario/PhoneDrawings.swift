import TomboloCore
import TomboloJSON

/// What the simulated phones drew of some activities, picture after picture, by `/v1/phones`.
struct PhoneDrawings: Sendable {
    /// Whose card it is.
    struct Card: Hashable, Sendable {
        var phone: String
        var activity: String
    }

    /// Of a phone that draws on and on, the first ones are enough.
    private static let sequenceMax = 500

    /// The newest picture of each card.
    private(set) var newest: [Card: JSON] = [:]
    /// Every picture that was seen, by phone: a look comes too late for some of them.
    private var seen: [String: Set<[UInt8]>] = [:]
    /// What each phone drew, one after the other, where the next is another one.
    private(set) var sequences: [String: [JSON]] = [:]
    /// The same of each card.
    private(set) var cardSequences: [Card: [JSON]] = [:]
    /// Whether this relay has phones that can be looked at.
    private(set) var areThere = true

    /// Looks once more, at the cards of activities whose id begins so.
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

    /// How many different pictures a phone drew; nil where nobody can look.
    func pictures(of phone: String) -> Int? { areThere ? seen[phone]?.count ?? 0 : nil }
}
