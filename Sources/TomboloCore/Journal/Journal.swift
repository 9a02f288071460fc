import TomboloJSON

/// The pending batch, the batch that is being written, and the answers that wait for them.
///
/// Only one batch is written at a time; later changes go into the next one. Urgent changes (an
/// event, a reservation, an answer) are written as soon as possible. Others go with them, or
/// `flushDelay` after the first of them. Only this folder takes a batch apart.
struct Journal: Sendable {
    private var pending = JournalBatch()
    private var inFlight: JournalBatch?
    /// Answers that need no write.
    private var answers: [(Ticket, Answer)] = []
    /// Longest wait of changes that are not urgent.
    private let flushDelay: Span
    /// Each tenant's use of the history.
    private var shares: FactShares
    /// The newest durable sequence numbers.
    private(set) var lastSeq: Int64 = 0
    private(set) var lastFactSeq: Int64 = 0
    /// The newest durable places of each tenant, among its own.
    private var places: [TenantID: LogPlace] = [:]

    init(flushDelay: Span, _ shares: FactShares) {
        self.flushDelay = flushDelay
        self.shares = shares
    }

    /// Continues after the log's last entries.
    mutating func recover(lastSeq: Int64, lastFactSeq: Int64, places: [TenantID: LogPlace]) {
        self.lastSeq = lastSeq
        self.lastFactSeq = lastFactSeq
        self.places = places
    }

    // MARK: Records and events

    /// Writes a record with the next batch.
    mutating func write(_ record: Record) { pending.records.append(record) }

    mutating func write(_ records: [Record]) { pending.records += records }

    /// Deletes a record.
    mutating func erase(_ space: RecordSpace, _ number: Int64) {
        write(Record(space: space, number: number, value: nil))
    }

    /// Adds an accepted event. Returns its index in the batch.
    mutating func append(_ event: JournalBatch.Event) -> Int {
        var event = event
        // A commit examines an activity's cards once, however many events it has.
        if !pending.weighed.insert(event.activity).inserted { event.weight -= 1 }
        pending.events.append(event)
        pending.touched.append(event.activity)
        pending.bodyBytes += event.event.body.count
        pending.weight += event.weight
        return pending.events.count - 1
    }

    /// An event of the pending batch, by its index.
    func event(_ index: Int) -> JournalBatch.Event { pending.events[index] }

    var eventCount: Int { pending.events.count }

    /// True if the pending batch has as much as one commit should examine.
    var isFull: Bool {
        pending.weight >= Self.weightMax || pending.events.count >= Self.eventsMax
    }
    /// Each unit of weight takes 3 µs and each event 1 to 2 µs, so a commit takes about 10 ms.
    static let (weightMax, eventsMax) = (2_000, 4_000)

    /// Bytes of events and other large objects in the pending batch.
    var bodyBytes: Int { pending.bodyBytes }

    mutating func addBytes(_ count: Int) { pending.bodyBytes += count }

    /// Events that are not durable yet: first those of the pending batch, then those being written.
    var comingEvents: [JournalBatch.Event] { pending.events + (inFlight?.events ?? []) }

    /// Notes that the activity's head has changed by more than its events.
    mutating func rewrite(_ activity: ActivitySlot) {
        pending.touched.append(activity)
        pending.rewritten.insert(activity)
    }

    /// Notes reloads that the batch being written must record.
    mutating func owe(_ owed: [OwedReload]) { inFlight?.owed = owed }

    /// True if the batch being written owes reloads of an activity.
    func owes(_ number: Int64) -> Bool {
        inFlight?.owed.contains { $0.number == number } ?? false
    }

    /// Retires an ended activity, if it still has this version at the write.
    mutating func retire(_ activity: JournalBatch.Retired, now: Instant) {
        pending.retired.append(activity)
        flushSoon(now: now)
    }

    /// Discards the pending batch.
    mutating func drop() { pending = JournalBatch() }

    // MARK: Rollback

    /// A position in the pending batch.
    struct Place {
        fileprivate let events: Int
        fileprivate let touched: Int
    }

    var place: Place { Place(events: pending.events.count, touched: pending.touched.count) }

    /// Removes the events after the position, and returns them.
    mutating func takeBack(to place: Place) -> [JournalBatch.Event] {
        let events = Array(pending.events[place.events...])
        pending.bodyBytes -= events.reduce(0) { $0 + $1.event.body.count }
        pending.weight -= events.reduce(0) { $0 + $1.weight }
        pending.events.removeLast(pending.events.count - place.events)
        pending.touched.removeLast(pending.touched.count - place.touched)
        pending.weighed = Set(pending.events.map(\.activity))
        return events
    }

    // MARK: Tickets

    /// Answers a ticket at the end of this step, without a write.
    mutating func answerNow(_ ticket: Ticket, _ answer: Answer) {
        answers.append((ticket, answer))
    }

    /// Moves the answers of this step to `others`.
    mutating func moveAnswers(to others: inout [(Ticket, Answer)]) {
        guard !answers.isEmpty else { return }
        if others.isEmpty { return swap(&answers, &others) }
        others += answers
        answers.removeAll(keepingCapacity: true)
    }

    /// The answer to a ticket in this step; nil if it still waits.
    func answer(to ticket: Ticket) -> Answer? { answers.first { $0.0 == ticket }?.1 }

    /// Answers a ticket when the batch is durable.
    mutating func answer(_ ticket: Ticket, _ stored: Stored) {
        pending.stored.append((ticket, stored))
    }

    mutating func answer(_ waiting: JournalBatch.Waiting) { pending.waiting.append(waiting) }

    /// The answer that a ticket will get; nil if it does not wait.
    func comingAnswer(to ticket: Ticket) -> Stored? {
        pending.stored.first { $0.0 == ticket }?.1
    }

    // MARK: Destinations

    /// Writes the destination's checkpoint with the next batch.
    mutating func checkpoint(_ destination: CardSlot) { pending.dirtyMarks.append(destination) }

    /// Writes the destination's checkpoint with the next batch that has room, or soon without one.
    ///
    /// - Parameter mayWait: true if it may wait until the flush is due.
    mutating func checkpointLater(_ destination: CardSlot, mayWait: Bool, now: Instant) {
        if mayWait {
            pending.lazyMarks.append(destination)
        } else {
            pending.lateMarks.append(destination)
        }
        flushSoon(now: now)
    }

    /// Makes an attempt wait until the budget that it has spent is durable.
    mutating func reserve(_ slot: CardSlot, _ destination: Int64) {
        pending.dirtyMarks.append(slot)
        pending.reservations.append(.init(slot: slot, destination: destination))
    }

    /// Makes a push wait for a newer reading of the clock.
    mutating func awaitClock(_ slot: CardSlot, _ destination: Int64) {
        pending.clockWaits.append(.init(slot: slot, destination: destination))
    }

    /// Makes an end wait until the successor of its card is durable.
    mutating func awaitSuccession(_ slot: CardSlot, _ destination: Int64) {
        pending.successions.append(.init(slot: slot, destination: destination))
    }

    /// Like `reserve`, for a widget or a control.
    mutating func reserveSurface(_ surface: SurfaceSlot) {
        pending.surfaceReservations.append(surface)
    }

    /// Makes an update token usable for pushes when it is durable.
    mutating func keep(_ token: JournalBatch.Token) { pending.tokens.append(token) }

    // MARK: Facts

    /// Writes a fact of a tenant.
    ///
    /// - Parameter isDetail: it may be left out, and counted, if its tenant has used up its part of
    ///   the history (`FactShares`).
    /// - Returns: true if it is written.
    mutating func note(_ fact: NewFact, isDetail: Bool = false, now: Instant) -> Bool {
        guard
            shares.takes(fact.kind, fact.body, of: fact.tenant, isDetail: isDetail, now: now)
        else { return false }
        pending.facts.append(fact)
        flushSoon(now: now)
        return true
    }

    /// When the next report about left-out facts is due; nil if none were left out.
    var leftOutDueAt: Instant? { shares.dueAt }

    /// Reports left-out detail facts: the first at once, later ones every minute.
    mutating func sayWhatIsLeftOut(_ clock: CoreClock, now: Instant, all: Bool = false) {
        guard shares.dueAt != nil else { return }
        for thinning in shares.thinnings(now: now, all: all) {
            _ = note(thinning.fact(clock, now: now), now: now)
        }
    }

    /// The next `history.thinned` fact; nil if nothing was left out since the last one.
    func comingThinning(of tenant: TenantID, _ clock: CoreClock, now: Instant) -> NewFact? {
        shares.unsaid(of: tenant).map { $0.fact(clock, now: now) }
    }

    // MARK: Sequences

    /// A tenant's newest durable event and fact, among its own; 0 if it has none.
    func place(of tenant: TenantID) -> LogPlace { places[tenant] ?? .none }

    /// The sequence number that the newest fact has, or will have when it is durable.
    var knownFactSeq: Int64 {
        lastFactSeq + Int64((inFlight?.facts.count ?? 0) + pending.facts.count)
    }

    // MARK: Writing

    /// True while a batch is being written.
    var isBusy: Bool { inFlight != nil }

    /// When changes that are not urgent are written; nil while a batch is being written or due.
    var flushAt: Instant? { isBusy || pending.isUrgent ? nil : pending.dueAt }

    /// Makes sure that changes that are not urgent are written soon.
    mutating func flushSoon(now: Instant) {
        if pending.flushAt == nil { pending.flushAt = now + flushDelay }
    }

    /// Writes the pending facts at that time or earlier. Checkpoints that may wait do not go with
    /// them, because one row then covers more changes.
    mutating func flushFacts(at instant: Instant) {
        if !pending.facts.isEmpty { pending.factsAt = min(pending.factsAt ?? instant, instant) }
    }

    /// Makes the pending batch urgent, unless a flush is planned.
    mutating func flushNow() {
        if pending.flushAt == nil { pending.flushAt = .distantPast }
    }

    /// Makes the pending batch urgent, even if a flush is planned.
    mutating func flushAtOnce() { pending.flushAt = .distantPast }

    /// True if `take` would return a batch.
    func hasBatch(now: Instant, writesAll: Bool) -> Bool {
        guard !isBusy, !pending.isEmpty else { return false }
        return writesAll || pending.isUrgent || pending.dueAt.map { $0 <= now } ?? true
    }

    /// Takes the batch to write now, and the destinations whose checkpoints belong to it.
    ///
    /// - Parameter stays: true for an activity that was restarted meanwhile: it must not be
    ///   retired, or the log would retire a living one.
    mutating func take(
        now: Instant, writesAll: Bool, stays: (JournalBatch.Retired) -> Bool
    ) -> (batch: JournalBatch, checkpoints: [CardSlot]) {
        let marks = takeLateMarks(now: now, writesAll: writesAll)
        let checkpoints = pending.dirtyMarks + marks.taken
        pending.retired.removeAll(where: stays)
        let batch = pending
        inFlight = batch
        pending = marks.left
        return (batch, checkpoints)
    }

    /// Most late checkpoints in one batch: otherwise, writing those of ten thousand clips would
    /// delay their frames.
    static let lateMarksMax = 256
    /// Wait after such a batch before the next one.
    static let lateMarksPause = Span.milliseconds(20)

    /// The late checkpoints for this batch, and those that stay for later.
    ///
    /// Under load a destination's checkpoint changes with every push. Sent updates alone are
    /// therefore not written with each batch: one row then covers many changes.
    private mutating func takeLateMarks(
        now: Instant, writesAll: Bool
    ) -> (taken: [CardSlot], left: JournalBatch) {
        let isDue = writesAll || pending.flushAt.map { $0 <= now } ?? false
        let room = writesAll ? .max : Self.lateMarksMax
        var left = JournalBatch()
        var taken = Array(pending.lateMarks.prefix(room))
        left.lateMarks = Array(pending.lateMarks.dropFirst(room))
        let lazy = isDue ? room - taken.count : 0
        taken += pending.lazyMarks.prefix(lazy)
        left.lazyMarks = Array(pending.lazyMarks.dropFirst(lazy))
        pending.lateMarks = []
        pending.lazyMarks = []
        if !left.lateMarks.isEmpty || isDue && !left.lazyMarks.isEmpty {
            left.flushAt = now + Self.lateMarksPause
        } else if !left.lazyMarks.isEmpty {
            left.flushAt = pending.flushAt ?? now + flushDelay
        }
        return (taken, left)
    }

    /// Notes that the batch being written is durable. Returns it; nil if there was none.
    mutating func committed(_ commit: AppendReceipt) -> JournalBatch? {
        guard let batch = inFlight else { return nil }
        inFlight = nil
        lastSeq = max(lastSeq, commit.firstSeq + Int64(batch.events.count) - 1)
        lastFactSeq = max(lastFactSeq, commit.firstFactSeq + Int64(batch.facts.count) - 1)
        // Most batches belong to one tenant, so update the table once for each run of events.
        for index in batch.events.indices {
            let tenant = batch.events[index].event.tenant
            let next = index + 1
            if next < batch.events.count, batch.events[next].event.tenant == tenant { continue }
            places[tenant, default: .none].command = commit.tenantSeqs[index]
        }
        for index in batch.facts.indices {
            let (tenant, next) = (batch.facts[index].tenant, index + 1)
            if next < batch.facts.count, batch.facts[next].tenant == tenant { continue }
            places[tenant, default: .none].fact = commit.tenantFactSeqs[index]
        }
        return batch
    }
}

extension NewFact {
    /// The kind of the fact that counts left-out facts. It belongs to no activity and is for all
    /// readers.
    package static let thinned = "history.thinned"
}

extension FactShares.Thinning {
    /// The fact for the history.
    fileprivate func fact(_ clock: CoreClock, now: Instant) -> NewFact {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("from", clock.wall(from).rfc3339)
        writer.name("left_out")
        writer.beginObject()
        for (kind, count) in leftOut { writer.member(kind, count) }
        writer.endObject()
        writer.endObject()
        return NewFact(
            tenant: tenant, activity: nil, kind: NewFact.thinned, recordedAt: clock.wall(now),
            body: writer.bytes)
    }
}
