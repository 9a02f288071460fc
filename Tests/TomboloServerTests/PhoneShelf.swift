import TomboloJSON

@testable import TomboloServer

/// Stands where the simulator's control port is: one phone, which is locked or not. The port itself
/// is spoken to over HTTP/2 in the tests of the program.
final class PhoneShelf: PhoneControl, @unchecked Sendable {  // used on its loop only
    private var isLocked = false
    /// Requests that came: method and path.
    private(set) var asked: [String] = []
    /// What is said instead.
    var refusal: PhoneAnswer?

    private var runs = false

    func scenario(_ name: String, runs: Bool?) async -> JSON? {
        guard name == "door" else { return nil }
        self.runs = runs ?? self.runs
        return JSON.object { writer in
            writer.member("scenario", name)
            writer.member("runs", self.runs)
            writer.array("words", of: [String]()) { $0.string($1) }
        }
    }

    func answer(
        _ method: String, _ path: String, _ body: [UInt8]
    ) async throws -> PhoneAnswer {
        asked.append("\(method) \(path)")
        if let refusal { return refusal }
        let deed = body.isEmpty ? nil : try JSONDocument(body).root["do"]?.string
        if deed == "lock" { isLocked = true }
        let phone = #"{"phone":"phone-1","locked":\#(isLocked)}"#
        let text = path.isEmpty ? #"{"phones":[\#(phone)],"runs":\#(runs)}"# : phone
        return PhoneAnswer(status: 200, body: Array(text.utf8))
    }
}
