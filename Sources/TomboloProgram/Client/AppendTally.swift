import TomboloJSON

/// Counts the answers to a batch, line by line.
struct AppendTally: Sendable {
    private(set) var taken = 0
    private(set) var refused = 0
    /// The texts of the first refusals, for people.
    private(set) var refusals: [String] = []

    /// Maximum number of refusals that are shown; the others are only counted.
    static let refusalsMax = 10

    var answered: Int { taken + refused }

    /// Counts one answer. Throws if the line is not an answer.
    mutating func note(_ line: ArraySlice<UInt8>) throws(ProgramError) {
        let view: JSONView
        do {
            view = try JSONDocument(Array(line)).root
        } catch {
            throw ProgramError("the relay's answer is not JSON: \(error.message)")
        }
        if view["ok"]?.bool == true {
            taken += 1
            return
        }
        refused += 1
        guard refusals.count < Self.refusalsMax else { return }
        let problem = view["problem"] ?? view
        let name = view["id"]?.string.map { " (\($0))" } ?? ""
        let status = Int(problem["status"]?.integer ?? 0)
        let text = RelayProblem(status: status, view: problem).error(name: nil).cause
        refusals.append("line \(answered)\(name): \(text)")
    }

    /// The counts as one JSON object.
    var json: JSON {
        JSON.object { writer in
            writer.member("lines", answered)
            writer.member("taken", taken)
            writer.member("refused", refused)
        }
    }
}
