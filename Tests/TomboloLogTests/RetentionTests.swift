import TestSupport
import Testing
import TomboloCore
import TomboloEventLog
import TomboloLog

/// A log that keeps three days of events and one of facts.
private func writer(_ place: LogPlace) throws -> LogWriter {
    try place.writer(LogRetention(history: .hours(72), facts: .hours(24)), checkpointPages: 12)
}

/// Activity 1 has an event and a fact in each of these hours.
private func live(_ writer: LogWriter, hours: Range<Int64>) throws {
    for hour in hours {
        var batch = Sample.batch(
            Sample.event(1, after: hour, at: Sample.noon + .hours(hour), key: "\(hour)"))
        var fact = Sample.fact("push.accepted", activity: 1)
        fact.recordedAt = Sample.noon + .hours(hour)
        batch.facts = [fact]
        _ = try writer.store([batch])[0].get()
        writer.cutIfDue()
        writer.checkpointIfDue()
    }
}

@Test(arguments: Engine.allCases)
func `history is cut by age, and the log goes on where it was`(kind: Engine) throws {
    let place = LogPlace(kind)
    var log = try writer(place)
    try live(log, hours: 0..<100)
    let reader = try place.reader()
    let events = try reader.history(after: 0, limit: 1_000)
    // The newest is of hour 99: what was recorded in hour 27 is 72 hours old, and stays.
    #expect(events.map(\.seq) == Array(28...100))
    var facts = FactQuery(tenant: Sample.lab)
    #expect(try reader.facts(facts).facts.map(\.seq) == Array(76...100))
    facts.after = 80
    #expect(try reader.facts(facts).facts.first?.seq == 81)
    var query = EventQuery(tenant: Sample.lab)
    query.activity = ActivityNumber(1)
    query.scanMax = 10
    query.limit = 5
    #expect(try reader.events(query).events.map(\.seq) == [28, 29, 30, 31, 32])
    query.activity = nil
    #expect(try reader.events(query).events.first?.seq == 28, "no page of nothing before it")

    log = try writer(place)
    let recovered = try log.recover(idempotencySince: .distantPast)
    #expect(recovered.lastSeq == 100)
    #expect(recovered.lastFactSeq == 100)
    #expect(recovered.heads.map(\.version) == [100])
    try live(log, hours: 100..<101)
}

@Test(arguments: Engine.allCases)
func `a log of which everything was cut gives no number twice`(kind: Engine) throws {
    let place = LogPlace(kind)
    let log = try writer(place)
    try live(log, hours: 0..<3)
    var retiring = AppendBatch()
    retiring.retired = [
        RetiredActivity(
            activity: ActivityNumber(1), name: try #require(Identifier("one")),
            endedAt: Sample.noon)
    ]
    _ = try log.store([retiring])[0].get()
    // A month later a fact comes, and takes all of it away.
    var late = AppendBatch()
    var fact = Sample.fact("push.accepted")
    fact.recordedAt = Sample.noon + .hours(720)
    late.facts = [fact]
    _ = try log.store([late])[0].get()
    for _ in 0..<3 { log.cutIfDue() }
    let recovered = try writer(place).recover(idempotencySince: .distantPast)
    #expect(recovered.lastSeq == 3)
    #expect(recovered.lastFactSeq == 4)
    #expect(recovered.lastActivity == 1)
    #expect(recovered.heads.isEmpty)
    #expect(!recovered.hasRetired)
}

/// An event and a fact so many hours after noon, recorded by a clock that is ahead by `lead`.
private func tick(_ writer: LogWriter, hour: Int64, lead: Span) throws {
    let now = Sample.noon + .hours(hour) + lead
    var batch = Sample.batch(Sample.event(1, after: hour, at: now))
    batch.lead = lead
    var fact = Sample.fact("push.accepted")
    fact.recordedAt = now
    batch.facts = [fact]
    _ = try writer.store([batch])[0].get()
    writer.cutIfDue()
}

/// The events that are left.
private func kept(_ place: LogPlace) throws -> [Int64] {
    try place.reader().history(after: 0, limit: 1_000).map(\.seq)
}

@Test(arguments: Engine.allCases)
func `a clock that jumps ahead takes no history away`(kind: Engine) throws {
    let place = LogPlace(kind)
    var log = try writer(place)
    let year = Span.hours(365 * 24)
    for hour in Int64(0)..<20 { try tick(log, hour: hour, lead: .zero) }
    for hour in Int64(20)..<40 { try tick(log, hour: hour, lead: year) }
    #expect(try kept(place) == Array(1...40))
    // Another process knows it too; and what is old by then goes.
    log = try writer(place)
    for hour in Int64(40)..<100 { try tick(log, hour: hour, lead: year) }
    #expect(try kept(place) == Array(28...100))
}

@Test(arguments: Engine.allCases, [false, true])
func `history of a clock that was ahead goes when it is old, and not before`(
    kind: Engine, restarts: Bool
) throws {
    let place = LogPlace(kind)
    var log = try writer(place)
    for hour in Int64(0)..<20 { try tick(log, hour: hour, lead: .hours(40_000)) }
    // It is set right.
    if restarts { log = try writer(place) }
    for hour in Int64(20)..<30 { try tick(log, hour: hour, lead: .zero) }
    #expect(try kept(place) == Array(1...30))
    for hour in Int64(30)..<100 { try tick(log, hour: hour, lead: .zero) }
    #expect(try kept(place) == Array(28...100))
}

@Test func `no history is shorter than its keys need`() {
    #expect(LogRetention(history: .hours(1), facts: .hours(1)).history == .hours(48))
    #expect(LogRetention(history: .hours(49), facts: .hours(1)).history == .hours(49))
}

@Test func `a file whose history is cut stops growing`() throws {
    let place = LogPlace(.sqlite)
    let log = try writer(place)
    try live(log, hours: 0..<200)
    log.checkpointIfDue()
    let early = try place.bytes()[0].count
    try live(log, hours: 200..<600)
    log.checkpointIfDue()
    let late = try place.bytes()[0].count
    #expect(late < early * 2, "\(early) bytes, then \(late)")
}
