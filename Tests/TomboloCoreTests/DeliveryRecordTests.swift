import CoreRig
import Testing

@testable import TomboloCore

/// Lines of the delivery history.
@Suite struct DeliveryRecordTests {
    @Test func `a record reads back as it was written`() {
        var record = DeliveryRecord(
            recipient: .device(Identifier("phone-1")!), card: 12, version: 9)
        record.decidedFrom = 7
        record.decision = .refused
        record.superseded = [8]
        record.trace = TraceID(text: "4bf92f3577b34da6a3ce929d0e0e4736")
        record.waited = .milliseconds(1_200)
        record.held = [.init(reason: .spacing, span: .milliseconds(1_200))]
        record.attempt = DeliveryRecord.Attempt(
            event: .update, route: .updateToken, apnsID: APNsID(high: 0x8000, low: 1 << 63),
            priority: 10, bytes: 412, answer: .refused(status: 400, reason: "BadTopic"),
            took: Span(nanoseconds: 41_000_000), alert: 9, purpose: .echo)
        record.attempt?.reserve = Reserve(kept: 2, burst: 5)
        let fact = NewFact(
            tenant: TenantID.main, activity: ActivityNumber(1), kind: record.kind,
            recordedAt: .distantPast, body: record.body)
        #expect(record.kind == "push.refused")
        #expect(DeliveryRecord(fact) == record)
        #expect((7...9).map { record.decision(of: $0) } == [.merged, .superseded, .refused])
        for decision in EventDecision.allCases where decision != .sent && decision != .refused {
            var plain = DeliveryRecord(recipient: .device(Identifier("phone-1")!), version: 9)
            (plain.decidedFrom, plain.decision) = (9, decision)
            let fact = NewFact(
                tenant: TenantID.main, activity: nil, kind: plain.kind, recordedAt: .distantPast,
                body: plain.body)
            #expect(DeliveryRecord(fact) == plain, "\(decision)")
            #expect(DeliveryRecord.kinds.contains(plain.kind), "\(plain.kind)")
        }
    }

    @Test(arguments: EventDecision.allCases)
    func `the records add up to the ledger, with superseded versions too`(
        _ decision: EventDecision
    ) {
        for chosen in 0..<16 {
            let superseded = (1...4).filter { chosen >> ($0 - 1) & 1 == 1 }.map(Int64.init)
            var ledger = Ledger(since: 1)
            var record = DeliveryRecord(recipient: .device(Identifier("phone-1")!), version: 4)
            record.decidedFrom =
                ledger.decide(through: 4, decision, superseded: superseded)?.lowerBound
            record.decision = decision
            record.superseded = superseded
            for one in EventDecision.allCases {
                let recorded = (1...4).count { record.decision(of: $0) == one }
                let booked = ledger.counts.count(of: one)
                #expect(booked == Int64(recorded), "\(one), superseded \(superseded)")
            }
        }
    }

    @Test func `a line that goes on is the fate of versions until the next line`() {
        func line(_ version: Int64, _ decision: EventDecision, goesOn: Bool) -> DeliveryRecord {
            var record = DeliveryRecord(
                recipient: .device(Identifier("phone-1")!), version: version)
            (record.decidedFrom, record.decision) = (version, decision)
            record.goesOn = goesOn
            let fact = NewFact(
                tenant: TenantID.main, activity: nil, kind: record.kind, recordedAt: .distantPast,
                body: record.body)
            #expect(DeliveryRecord(fact) == record)
            return record
        }
        let lines = [
            line(4, .merged, goesOn: false), line(5, .noRoute, goesOn: true),
            line(8, .unchanged, goesOn: false),
        ]
        let places = (3...9).map { DeliveryRecord.fate(of: $0, in: lines) }
        #expect(places == [nil, 0, 1, 1, 1, 2, nil])
        #expect(lines[1].fate(of: 7) == .noRoute)
        #expect(lines[2].fate(of: 9) == nil)
    }

    @Test(arguments: [
        "4bf92f3577b34da6a3ce929d0e0e4736", "00000000000000010000000000000000",
        "0000000000000000000000000000000f", "ffffffffffffffffffffffffffffffff",
    ])
    func `a trace id is read and written`(_ text: String) {
        #expect(TraceID(text: text)?.text == text)
        #expect(TraceID(text: text.uppercased() + "A") == nil && TraceID(text: "") == nil)
        #expect(TraceID(text: String(repeating: "0", count: 32)) == nil)
        #expect(TraceID(text: "g" + text.dropFirst()) == nil)
    }

    /// Merged versions lead to the newest that came with one.
    @Test func `a delivery has the trace of the newest of its events`() {
        func trace(_ digit: String) -> TraceID? {
            TraceID(text: String(repeating: digit, count: 32))
        }
        var rig = Rig.running(until: 20)
        let before = rig.facts.count
        for (lap, digit) in [(1, "a"), (2, "b"), (3, "c"), (4, "c"), (5, nil), (6, nil)] {
            rig.command(.update, #"{"state":{"lap":\#(lap)}}"#) {
                $0.trace = digit.flatMap(trace)
            }
        }
        rig.advance(to: 400)
        let records = rig.facts.dropFirst(before).compactMap { DeliveryRecord($0) }
        #expect(records.count > 1)
        for record in records {
            let traced = record.decided.map { min($0.upperBound, 5) } ?? record.version
            let digit = traced <= 5 ? ["", "", "a", "b", "c", "c"][Int(traced)] : ""
            let isLate = (record.decidedFrom ?? record.version) > 5
            #expect(
                record.trace == (isLate ? nil : trace(digit)),
                "\(record.decidedFrom ?? 0) to \(record.version)")
        }
        rig.advance(to: 800)
        rig.update(lap: 7, until: 1_200)
        let last = rig.facts.compactMap { DeliveryRecord($0) }.last
        #expect(last?.version == 8 && last?.trace == nil)
    }

    @Test func `an apns-id leads to the facts behind which its push is on record`() {
        var chance = Chance(7)
        let ids = DeliveryIDs(KeyedHash(key0: 1, key1: 2))
        for place in [0, 1, 4_711, 1 << 40] as [Int64] {
            let id = ids.make(after: place, &chance)
            #expect(ids.place(of: id) == place)
            #expect(APNsID(text: id.text) == id)
            #expect(DeliveryIDs(KeyedHash(key0: 1, key1: 3)).place(of: id) != place)
        }
        #expect(ids.place(of: APNsID(high: 0x4000, low: 1 << 63)) == nil, "no id of a relay's")
    }

    @Test func `a fact names no activity that is not known: nothing would erase it`() {
        var rig = Rig()
        rig.device()
        rig.token("activity:secret-7", "aa01")
        rig.token("start:Cat", "aa02")
        rig.advance(to: 10)
        let tokens = rig.facts.filter { $0.kind == "token.registered" }
        #expect(tokens.count == 1)
        #expect(
            !rig.facts.contains { String(decoding: $0.body, as: UTF8.self).contains("secret-7") })
    }

    @Test func `a phone's report makes no fact while the disk is full`() {
        var rig = Rig()
        rig.device()
        rig.advance(to: 10)
        let before = rig.facts.count
        rig.step(.room(false))
        rig.token("start:Cat", "aa02")
        rig.advance(to: 20)
        #expect(rig.facts.count == before)
    }
}
