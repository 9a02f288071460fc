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

    /// Counts one answer. Returns it with its line counted from the first of the input. Throws if
    /// the line is not an answer.
    ///
    /// - Parameter before: the number of lines in earlier requests.
    mutating func note(
        _ line: ArraySlice<UInt8>, after before: Int
    ) throws(ProgramError) -> ArraySlice<UInt8> {
        let view: JSONView
        do {
            view = try JSONDocument(Array(line)).root
        } catch {
            throw ProgramError("the relay's answer is not JSON: \(error.message)")
        }
        if view["ok"]?.bool == true {
            taken += 1
            return line
        }
        refused += 1
        let number = view["line"]?.integer.map { Int($0) + before }
        if refusals.count < Self.refusalsMax { noteRefusal(view, line: number ?? answered) }
        guard let number, before > 0 else { return line }
        let counted = JSON.object { writer in
            for (name, value) in view.members where name != "line" {
                writer.member(name, value.json)
            }
            writer.member("line", number)
        }
        return counted.bytes[...]
    }

    private mutating func noteRefusal(_ view: JSONView, line: Int) {
        let problem = view["problem"] ?? view
        let name = view["id"]?.string.map { " (\($0))" } ?? ""
        let status = Int(problem["status"]?.integer ?? 0)
        let text = RelayProblem(status: status, view: problem).error(name: nil).cause
        refusals.append("line \(line)\(name): \(text)")
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
