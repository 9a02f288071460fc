import Testing

@testable import TomboloAPI
@testable import TomboloCore

/// The version 3 of `cat-7` at `phone-1`, and what is on record about it.
struct ExplainerCase: CustomTestStringConvertible, Sendable {
    var code: String?
    var what: String
    var evidence: Evidence

    var testDescription: String { "\(code ?? "no suspect"): \(what)" }

    init(_ code: String?, _ what: String, _ change: (inout Evidence) -> Void) {
        (self.code, self.what) = (code, what)
        evidence = Evidence(
            activity: Samples.activity.key.id, app: "com.example.app", type: "Runner",
            status: .active, newest: 4, recipient: .device(Samples.device.id),
            asked: Evidence.Asked(version: 3, kind: .update, recordedAt: Evidence.at(0)),
            now: Evidence.at(600))
        var device = Samples.device
        device.registration.frequentUpdates = false
        evidence.registration = device
        evidence.destination = Samples.activity.destinations[0]
        evidence.destination?.waiting = nil
        evidence.destination?.shownMatches = nil
        change(&evidence)
    }
}

extension Evidence {
    /// So many seconds after the version came.
    static func at(_ seconds: Int64) -> Instant { Samples.moment + .seconds(seconds) }

    mutating func add(_ record: DeliveryRecord, at second: Int64) {
        let fact = NewFact(
            tenant: Samples.tenant, activity: ActivityNumber(1), kind: record.kind,
            recordedAt: Self.at(second), body: record.body)
        let recorded = RecordedFact(seq: Int64(deliveries.count + 1), fact: fact)
        if let entry = DeliveryEntry(recorded, activity: activity) { deliveries.append(entry) }
    }

    /// A push that decided the versions from 3 on.
    mutating func push(
        _ version: Int64 = 3, _ answer: DeliveryRecord.Answer = .accepted, at second: Int64 = 1,
        event: Push.Event = .update, priority: UInt8 = 10, held: [WaitReason: Int64] = [:],
        decides: Bool = true
    ) {
        var record = DeliveryRecord(
            recipient: recipient, version: version,
            attempt: .init(
                event: event, route: .updateToken,
                apnsID: APNsID(high: 0x1234, low: UInt64(deliveries.count)), priority: priority,
                bytes: 100, answer: answer, took: .milliseconds(30)))
        record.decidedFrom = min(3, version)
        if case .refused = answer { record.decision = .refused } else { record.decision = .sent }
        if !decides { (record.decidedFrom, record.decision) = (nil, nil) }
        record.held = held.map { WaitSpan(reason: $0.key, span: .seconds($0.value)) }
        add(record, at: second)
    }

    /// Version 3 ended without a push.
    mutating func skip(_ decision: EventDecision, at second: Int64 = 1, card: Int64? = nil) {
        var record = DeliveryRecord(recipient: recipient, card: card, version: 3)
        (record.decidedFrom, record.decision) = (3, decision)
        add(record, at: second)
    }

    /// Version 1 ended without a push, and so does what comes.
    mutating func goOn(
        _ decision: EventDecision, held: [WaitReason: Int64] = [:], card: Int64? = nil
    ) {
        var record = DeliveryRecord(recipient: recipient, card: card, version: 1)
        record.held = held.map { WaitSpan(reason: $0.key, span: .seconds($0.value)) }
        (record.decidedFrom, record.decision, record.goesOn) = (1, decision, true)
        add(record, at: -600)
    }

    mutating func wait(_ reason: WaitReason) {
        destination?.waiting = .deferred(until: nil, reason)
    }

    /// What the phone said, or the relay learnt of it.
    mutating func phone(_ kind: String, _ body: String, at second: Int64) {
        phone.append(Self.fact(kind, body, second))
    }

    mutating func relay(_ kind: String, _ body: String = "{}", at second: Int64) {
        relay.append(Self.fact(kind, body, second))
    }

    private static func fact(_ kind: String, _ body: String, _ second: Int64) -> NewFact {
        NewFact(
            tenant: Samples.tenant, activity: nil, kind: kind, recordedAt: at(second),
            body: Array(body.utf8))
    }

    mutating func closeUpstream(_ app: String = "com.example.app", at second: Int64) {
        relay(
            "upstream.closed",
            "{\"app\":\"\(app)\",\"environment\":\"sandbox\",\"text\":\"Apple is away\"}",
            at: second)
    }

    mutating func openUpstream(at second: Int64) {
        relay(
            "upstream.open", #"{"app":"com.example.app","environment":"sandbox"}"#, at: second)
    }

    mutating func thin(from second: Int64, until end: Int64) {
        let from = Self.at(second).rfc3339
        thinned.append(
            Self.fact(
                "history.thinned",
                "{\"from\":\"\(from)\",\"left_out\":{\"push.merged\":7,\"card.reported\":1200}}",
                end))
    }

    /// The relay wrote its last fact at one second, and started again at another.
    mutating func kill(at second: Int64, until start: Int64) {
        relay("relay.started", at: start)
        seenBefore[Self.at(start)] = Self.at(second)
    }
}
