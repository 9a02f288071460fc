import TestSupport
import Testing
import TomboloCore
import TomboloEventLog
import TomboloLog

/// A closed log of nine events of activities 1 to 3 in turns, each body, head and record
/// unmistakable.
private func filled(_ kind: Engine) async throws -> LogPlace {
    let place = LogPlace(kind)
    let log = try place.log()
    for seq in Int64(1)...9 {
        let activity = (seq - 1) % 3 + 1
        var batch = Sample.batch(
            Sample.event(
                activity, after: (seq - 1) / 3, body: "{\"body\":\"number-\(seq)\"}",
                key: "key-\(seq)"))
        batch.heads = [
            ActivityHead(
                activity: ActivityNumber(activity), value: Array("head-of-\(activity)".utf8))
        ]
        batch.facts = [
            NewFact(
                tenant: Sample.lab, activity: nil, kind: "push.accepted", recordedAt: Sample.noon,
                body: Array("fact-\(seq)".utf8))
        ]
        batch.records = [
            Record(space: .device, number: activity, value: Array("device-\(activity)".utf8))
        ]
        _ = try await log.append(batch)
    }
    await log.close()
    return place
}

@Test(arguments: Engine.allCases)
func `a damaged event is set aside by every way to it, and reported once`(kind: Engine)
    async throws
{
    let place = try await filled(kind)
    try place.flipBit(at: "number-5")
    let log = try place.log()
    let whole = try await Sample.allEvents(log, EventQuery(tenant: Sample.lab))
    #expect(whole.map(\.seq) == [1, 2, 3, 4, 6, 7, 8, 9])
    #expect(try await log.history(after: 0, limit: 100).map(\.seq) == [1, 2, 3, 4, 6, 7, 8, 9])
    #expect(try await log.event(seq: 5, tenant: Sample.lab) == nil)
    var second = EventQuery(tenant: Sample.lab)
    second.activity = ActivityNumber(2)
    #expect(try await Sample.allEvents(log, second).map(\.seq) == [2, 8])
    #expect(
        log.damage == ["event 5 of lab (row 5, activity number 2): its row is damaged"])
    await log.close()
}

@Test(arguments: Engine.allCases, [Int64(1), 5, 9])
func `a page says where a row is that cannot be read`(kind: Engine, seq: Int64) async throws {
    let place = try await filled(kind)
    try place.flipBit(at: "number-\(seq)")
    try place.flipBit(at: "fact-3")
    let log = try place.log()
    var all = EventQuery(tenant: Sample.lab)
    all.through = 9
    #expect(try await log.events(all).damaged == [seq...seq])
    var one = all
    (one.after, one.through, one.limit) = (seq - 1, seq, 1)
    #expect(try await log.events(one).damaged == [seq...seq])
    // Of a page that ends before it the next one tells.
    var before = all
    before.limit = Int(max(1, seq - 1))
    let page = try await log.events(before)
    #expect(page.damaged == (seq == 1 ? [1...1] : []))
    // The way of an activity that is whole leads past it.
    all.activity = ActivityNumber(seq % 3 + 1)
    #expect(try await log.events(all).damaged.isEmpty)
    #expect(try await log.facts(FactQuery(tenant: Sample.lab)).damaged == [3...3])
    await log.close()
}

@Test(arguments: Engine.allCases)
func `a damaged event of the newest chapter loses its key, and verify says so`(kind: Engine)
    async throws
{
    let place = try await filled(kind)
    try place.flipBit(at: "number-5")
    let log = try place.log()
    let recovered = try await log.recover()
    #expect(recovered.damage == [])
    #expect(recovered.idempotency.table.seqs == [1, 2, 3, 4, 6, 7, 8, 9])
    let verdict = try place.verify()
    let line = try #require(verdict.wrong.first { $0.hasPrefix("event 5 ") })
    #expect(
        line.hasSuffix("its row is damaged; its idempotency key, if it had one, counts no longer"))
    #expect(
        try await log.append(Sample.batch(Sample.event(1, after: 3, key: "key-5"))).firstSeq == 10)
    await #expect(
        throws: EventLogError.duplicateKey(
            IdempotencyKey(key: "key-6", bodyDigest: 0xfeed_face_dead_beef), seq: 6)
    ) {
        try await log.append(Sample.batch(Sample.event(1, after: 4, key: "key-6")))
    }
    await log.close()
}

@Test(arguments: Engine.allCases)
func `a damaged head is reported, and its activity takes nothing`(kind: Engine) async throws {
    let place = try await filled(kind)
    try place.flipBit(at: "head-of-3")
    let log = try place.log()
    let recovered = try await log.recover()
    #expect(recovered.damaged.map(\.number.rawValue) == [3])
    #expect(recovered.damaged.map(\.reason) == ["its row in the log is damaged"])
    #expect(recovered.heads.map(\.activity.rawValue) == [1, 2])
    #expect(recovered.lastActivity == 3, "its number is not given to another")
    await #expect(throws: EventLogError.self) {
        try await log.append(Sample.batch(Sample.event(3, after: 3)))
    }
    await #expect(throws: EventLogError.self) {
        try await log.append(Sample.batch(Sample.event(3, after: 0)))
    }
    #expect(try await log.append(Sample.batch(Sample.event(2, after: 3))).firstSeq == 10)
    var third = EventQuery(tenant: Sample.lab)
    third.activity = ActivityNumber(3)
    #expect(try await Sample.allEvents(log, third).map(\.seq) == [3, 6, 9])
    await log.close()
}

@Test(arguments: Engine.allCases)
func `damaged records and facts are reported and set aside`(kind: Engine) async throws {
    let place = try await filled(kind)
    try place.flipBit(at: "device-2")
    try place.flipBit(at: "fact-7")
    let log = try place.log()
    let recovered = try await log.recover()
    #expect(recovered.damage == ["record 2 of space 1: its row is damaged"])
    #expect(recovered.records.map(\.number) == [1, 3])
    let facts = try await log.facts(FactQuery(tenant: Sample.lab)).facts
    #expect(facts.map(\.seq) == [1, 2, 3, 4, 5, 6, 8, 9])
    #expect(log.damage == ["fact 7: its row is damaged"])
    await log.close()
}

@Test(arguments: Engine.allCases)
func `rows of a damaged tenant are nobody's`(kind: Engine) async throws {
    let place = try await filled(kind)
    try place.edit { try $0.blank(LogTable(.tenant), 1, bytes: 9) }
    let log = try place.log()
    #expect(try await log.recover().damage.first == "tenant 1: its row is damaged")
    for tenant in [Sample.lab, Sample.field] {
        #expect(try await log.events(EventQuery(tenant: tenant)).events.isEmpty)
    }
    await log.close()
}

@Test(arguments: Engine.allCases)
func `a damaged event that no head has takes its activity out, and no other`(kind: Engine)
    async throws
{
    let place = LogPlace(kind)
    var activities = SampleActivities()
    var writer: LogWriter? = try place.writer()
    for round in 0..<4 {
        let events = (Int64(1)...3).map { activity in
            activities.next(activity, "{\"mark\":\"round-\(round)-\(activity)\"}", at: Sample.noon)
        }
        _ = try writer?.store([activities.batch(events)])[0].get()
    }
    writer = nil
    // The third activity's newest event, and one in the middle of the first's.
    try place.flipBit(at: "round-2-1")
    try place.flipBit(at: "round-3-3")
    let log = try place.log()
    let recovered = try await log.recover()
    #expect(recovered.heads.map(\.activity.rawValue) == [2])
    #expect(recovered.heads.map(\.version) == [4])
    #expect(
        recovered.damage == [
            "event 7 of lab (row 7, activity number 1): its row is damaged",
            "event 12 of lab (row 12, activity number 3): its row is damaged",
        ])
    #expect(recovered.damaged.map(\.number.rawValue) == [1, 3])
    #expect(
        recovered.damaged.map(\.reason) == ["its event 7 is damaged", "its event 12 is damaged"])
    await #expect(throws: EventLogError.self) {
        try await log.append(Sample.batch(Sample.event(1, after: 4)))
    }
    #expect(try await log.append(Sample.batch(Sample.event(2, after: 4))).firstSeq == 13)
    await log.close()
}
