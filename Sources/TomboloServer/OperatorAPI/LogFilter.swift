import TomboloAPI
import TomboloCore
import TomboloJSON
import TomboloRelay

/// Which of the log's two sequences a reader asks for.
enum LogKind: String, CaseIterable {
    case command, fact, all
}

/// Which rows of the log a reader asks for.
///
/// `fact` and `result` choose facts: commands come only where `kind` asks for them. A device or a
/// user chooses the facts about it, and the commands of activities that go there now.
struct LogFilter {
    let kind: LogKind
    /// Facts of these kinds; nil: of all.
    let facts: Set<String>?
    let type: String?
    let device: Identifier?
    let user: String?
    let results: Set<String>?

    init(_ request: DoorRequest) throws(Problem) {
        facts = try Self.words("fact", request, among: FactKinds.all)
        results = try Self.words("result", request, among: FactKinds.results)
        let words = LogKind.allCases.map(\.rawValue)
        let kind: LogKind =
            try request.word("kind", among: words).flatMap { LogKind(rawValue: $0) }
            ?? ((facts ?? results) == nil ? .command : .fact)
        guard kind != .command || facts == nil && results == nil else {
            throw Problem(
                .invalidQuery, "fact= and result= choose facts: give kind=fact or kind=all.")
        }
        self.kind = kind
        type = request.target["type"]
        device = try request.identifier(inQuery: "device")
        user = request.target["user"]
    }

    /// `a,b`, of which each is one of the known words.
    private static func words(
        _ name: String, _ request: DoorRequest, among known: [String]
    ) throws(Problem) -> Set<String>? {
        guard let text = request.target[name] else { return nil }
        let words = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard words.count <= wordsMax else {
            throw Problem(.invalidQuery, "\(name) takes at most \(wordsMax) names.")
        }
        for word in words where !known.contains(word) {
            throw DoorRequest.unknown(word, of: name, among: known)
        }
        return Set(words)
    }

    /// A query needs no more.
    private static let wordsMax = 32

    var takesCommands: Bool { kind != .fact }
    var takesFacts: Bool { kind != .command }
    /// The facts that a reader takes; nil: of all kinds.
    var factKinds: Set<String>? { facts.map { $0.union([NewFact.thinned]) } }
    var recipient: Recipient? { device.map { .device($0) } }

    /// Whether a fact is asked for, by all but its activity.
    ///
    /// - Parameter devices: those that it may be about; nil: any, or none.
    func takes(_ fact: NewFact, _ devices: Set<Identifier>?) -> Bool {
        guard facts.map({ $0.contains(fact.kind) }) ?? true else { return false }
        guard devices != nil || results != nil else { return true }
        // What is damaged is about nothing.
        let document = try? JSONDocument(fact.body)
        let summary = FactSummary(fact, body: document?.root)
        if let devices {
            guard case .device(let device)? = summary.recipient, devices.contains(device) else {
                return false
            }
        }
        return results.map { $0.contains(summary.result ?? "") } ?? true
    }

    /// The devices that a row may be about; nil: any, or none.
    func devices(_ relay: Relay, tenant: TenantID) async -> Set<Identifier>? {
        guard let user else { return device.map { [$0] } }
        let all = Set(await relay.devices(ofUser: user, tenant: tenant))
        return device.map { all.intersection([$0]) } ?? all
    }
}
