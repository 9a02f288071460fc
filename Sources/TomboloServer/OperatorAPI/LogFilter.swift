import TomboloAPI
import TomboloCore
import TomboloJSON
import TomboloRelay

/// The kind of rows that a reader requests: one of the log's two sequences, or both.
enum LogKind: String, CaseIterable {
    case command, fact, all
}

/// The rows of the log that a reader requests. If `fact` or `result` is given, commands are only
/// returned if `kind` requests them. `device` or `user` selects facts about these devices, and
/// commands of activities that have them as destinations now.
struct LogFilter {
    let kind: LogKind
    /// The selected kinds of facts; nil: all.
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

    /// Parses a list such as `a,b`. Each word must be known.
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

    /// Maximum number of words in a list.
    private static let wordsMax = 32

    var takesCommands: Bool { kind != .fact }
    var takesFacts: Bool { kind != .command }
    /// The kinds of facts to read; nil: all. Gaps (`thinned`) are always read.
    var factKinds: Set<String>? { facts.map { $0.union([NewFact.thinned]) } }
    var recipient: Recipient? { device.map { .device($0) } }

    /// True if the fact matches the conditions on kind, device and result.
    ///
    /// - Parameter devices: the fact must be about one of these; nil: no condition.
    func takes(_ fact: NewFact, _ devices: Set<Identifier>?) -> Bool {
        guard facts.map({ $0.contains(fact.kind) }) ?? true else { return false }
        guard devices != nil || results != nil else { return true }
        // A fact whose body is damaged counts as about no device.
        let document = try? JSONDocument(fact.body)
        let summary = FactSummary(fact, body: document?.root)
        if let devices {
            guard case .device(let device)? = summary.recipient, devices.contains(device) else {
                return false
            }
        }
        return results.map { $0.contains(summary.result ?? "") } ?? true
    }

    /// The devices that a row must be about; nil: no condition.
    func devices(_ relay: Relay, tenant: TenantID) async -> Set<Identifier>? {
        guard let user else { return device.map { [$0] } }
        let all = Set(await relay.devices(ofUser: user, tenant: tenant))
        return device.map { all.intersection([$0]) } ?? all
    }
}
