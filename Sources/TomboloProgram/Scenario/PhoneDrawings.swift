import TomboloCore
import TomboloJSON

/// The pictures of some activities that the simulated phones drew, read from `/v1/phones`.
struct PhoneDrawings: Sendable {
    /// A card: its phone and its activity.
    struct Card: Hashable, Sendable {
        var phone: String
        var activity: String
    }

    /// Maximum number of pictures that are kept for a phone: the first ones.
    private static let sequenceMax = 500

    private(set) var newest: [Card: JSON] = [:]
    /// For each phone, every picture that was seen. Some are missed between two reads.
    private var seen: [String: Set<[UInt8]>] = [:]
    /// For each phone, its pictures in order. Equal pictures in a row count once.
    private(set) var sequences: [String: [JSON]] = [:]
    /// For each card, its pictures in order. Equal pictures in a row count once.
    private(set) var cardSequences: [Card: [JSON]] = [:]
    /// True if this relay has simulated phones.
    private(set) var areThere = true

    /// Reads the phones' cards of activities whose ids begin with `prefix`.
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
        for page in try answer.document().root.items("phones") {
            let phone = page["phone"]?.string ?? ""
            for card in page.items("cards") {
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

    /// The number of different pictures that a phone drew; nil if there are no simulated phones.
    func pictures(of phone: String) -> Int? { areThere ? seen[phone]?.count ?? 0 : nil }
}
