import TomboloJSON

/// What is to be written, what is on its way to the disk, and who waits for it.
///
/// One batch is on its way at a time; what comes meanwhile waits in the next one. Something urgent
/// (an event, a reservation, an answer) goes as soon as it may; the rest goes with it, or
/// `flushDelay` after the first of it came. Only this folder takes a batch apart.
struct Journal: Sendable {
    private var pending = JournalBatch()
    private var inFlight: JournalBatch?
    /// Answers that wait for no disk.
    private var answers: [(Ticket, Answer)] = []
    /// What is written lazily waits so long for something urgent.
    private let flushDelay: Span
    /// How much of the history each tenant uses up.
    private var shares: FactShares
    /// The newest durable sequences.
    private(set) var lastSeq: Int64 = 0
    private(set) var lastFactSeq: Int64 = 0
    /// The same of each tenant, among its own.
    private var places: [TenantID: LogPlace] = [:]

    init(flushDelay: Span, _ shares: FactShares) {
        self.flushDelay = flushDelay
        self.shares = shares
    }

    /// Goes on where the relay before stopped.
    mutating func recover(lastSeq: Int64, lastFactSeq: Int64, places: [TenantID: LogPlace]) {
        self.lastSeq = lastSeq
        self.lastFactSeq = lastFactSeq
        self.places = places
    }

    // MARK: Records and events

    /// A current value goes with the next batch.
    mutating func write(_ record: Record) { pending.records.append(record) }

    mutating func write(_ records: [Record]) { pending.records += records }

    /// A current value is no more.
    mutating func erase(_ space: RecordSpace, _ number: Int64) {
        write(Record(space: space, number: number, value: nil))
    }

    /// An accepted event. Answers its index in the batch.
    mutating func append(_ event: JournalBatch.Event) -> Int {
        var event = event
        // However often an activity changes in one commit, its cards are looked at once.
        if !pending.weighed.insert(event.activity).inserted { event.weight -= 1 }
        pending.events.append(event)
        pending.touched.append(event.activity)
        pending.bodyBytes += event.event.body.count
        pending.weight += event.weight
        return pending.events.count - 1
    }

    /// An event that waits for the next batch, by its index.
    func event(_ index: Int) -> JournalBatch.Event { pending.events[index] }

    var eventCount: Int { pending.events.count }

    /// Whether what waits is as much as one commit is to look at: more goes into the next one.
    var isFull: Bool {
        pending.weight >= Self.weightMax || pending.events.count >= Self.eventsMax
    }
    /// At 3 µs each, and 1 to 2 µs an event: a commit holds the loop for about 10 ms.
    static let (weightMax, eventsMax) = (2_000, 4_000)

    /// Bytes of what waits: of events, and of other large objects.
    var bodyBytes: Int { pending.bodyBytes }

    mutating func addBytes(_ count: Int) { pending.bodyBytes += count }

    /// Events that are not durable yet, those that wait before those that are on their way.
    var comingEvents: [JournalBatch.Event] { pending.events + (inFlight?.events ?? []) }

    /// The activity's head has changed by more than its events.
    mutating func rewrite(_ activity: ActivitySlot) {
        pending.touched.append(activity)
        pending.rewritten.insert(activity)
    }

    /// The batch on its way owes these reloads: on record with it.
    mutating func owe(_ owed: [OwedReload]) { inFlight?.owed = owed }

    /// Whether the batch on its way owes reloads of an activity.
    func owes(_ number: Int64) -> Bool {
        inFlight?.owed.contains { $0.number == number } ?? false
    }

    /// An ended activity leaves, if it is still at its version then.
    mutating func retire(_ activity: JournalBatch.Retired, now: Instant) {
        pending.retired.append(activity)
        flushSoon(now: now)
    }

    /// What waited is not to be written.
    mutating func drop() { pending = JournalBatch() }

    // MARK: Taking back

    /// How far the pending batch has come.
    struct Place {
        fileprivate let events: Int
        fileprivate let touched: Int
    }

    var place: Place { Place(events: pending.events.count, touched: pending.touched.count) }

    /// Takes back the events since then, and answers them.
    mutating func takeBack(to place: Place) -> [JournalBatch.Event] {
        let events = Array(pending.events[place.events...])
        pending.bodyBytes -= events.reduce(0) { $0 + $1.event.body.count }
        pending.weight -= events.reduce(0) { $0 + $1.weight }
        pending.events.removeLast(pending.events.count - place.events)
        pending.touched.removeLast(pending.touched.count - place.touched)
        pending.weighed = Set(pending.events.map(\.activity))
        return events
    }

    // MARK: Who waits

    /// The ticket waits for no disk: its answer goes when the step is over.
    mutating func answerNow(_ ticket: Ticket, _ answer: Answer) {
        answers.append((ticket, answer))
    }

    /// Those go with this step.
    mutating func moveAnswers(to others: inout [(Ticket, Answer)]) {
        guard !answers.isEmpty else { return }
        if others.isEmpty { return swap(&answers, &others) }
        others += answers
        answers.removeAll(keepingCapacity: true)
    }

    /// What a ticket is answered with this step; nil where it waits on.
    func answer(to ticket: Ticket) -> Answer? { answers.first { $0.0 == ticket }?.1 }

    /// The ticket is answered when the batch is durable.
    mutating func answer(_ ticket: Ticket, _ stored: Stored) {
        pending.stored.append((ticket, stored))
    }

    mutating func answer(_ waiting: JournalBatch.Waiting) { pending.waiting.append(waiting) }

    /// What a ticket will be answered; nil where it does not wait.
    func comingAnswer(to ticket: Ticket) -> Stored? {
        pending.stored.first { $0.0 == ticket }?.1
    }

    // MARK: Destinations

    /// The destination's checkpoint goes with the next batch.
    mutating func checkpoint(_ destination: CardSlot) { pending.dirtyMarks.append(destination) }

    /// Its checkpoint goes with the next batch that has room, or soon without one.
    ///
    /// - Parameter mayWait: it goes without other news only when the flush is due.
    mutating func checkpointLater(_ destination: CardSlot, mayWait: Bool, now: Instant) {
        if mayWait {
            pending.lazyMarks.append(destination)
        } else {
            pending.lateMarks.append(destination)
        }
        flushSoon(now: now)
    }

    /// Its attempt waits for what it has spent to be on record.
    mutating func reserve(_ slot: CardSlot, _ destination: Int64) {
        pending.dirtyMarks.append(slot)
        pending.reservations.append(.init(slot: slot, destination: destination))
    }

    /// Its push waits for a newer reading of the clock.
    mutating func awaitClock(_ slot: CardSlot, _ destination: Int64) {
        pending.clockWaits.append(.init(slot: slot, destination: destination))
    }

    /// Its end waits until it is on record that its card has a successor.
    mutating func awaitSuccession(_ slot: CardSlot, _ destination: Int64) {
        pending.successions.append(.init(slot: slot, destination: destination))
    }

    /// The same as `reserve` of a widget or a control.
    mutating func reserveSurface(_ surface: SurfaceSlot) {
        pending.surfaceReservations.append(surface)
    }

    /// An update token that pushes may go to when it is durable.
    mutating func keep(_ token: JournalBatch.Token) { pending.tokens.append(token) }

    // MARK: Facts

    /// A fact of a tenant.
    ///
    /// - Parameter isDetail: it is left out, and counted, where its tenant has used up its part of
    ///   the history (`FactShares`).
    /// - Returns: whether it is written.
    mutating func note(_ fact: NewFact, isDetail: Bool = false, now: Instant) -> Bool {
        guard
            shares.takes(fact.kind, fact.body, of: fact.tenant, isDetail: isDetail, now: now)
        else { return false }
        pending.facts.append(fact)
        flushSoon(now: now)
        return true
    }

    /// When it is to be said which facts were left out; nil where none were.
    var leftOutDueAt: Instant? { shares.dueAt }

    /// Says which facts of detail were left out: the first at once, the others by the minute.
    mutating func sayWhatIsLeftOut(_ clock: CoreClock, now: Instant, all: Bool = false) {
        guard shares.dueAt != nil else { return }
        for thinning in shares.thinnings(now: now, all: all) {
            _ = note(thinning.fact(clock, now: now), now: now)
        }
    }

    /// What `history.thinned` will say next; nil where nothing was left out since it spoke last.
    func comingThinning(of tenant: TenantID, _ clock: CoreClock, now: Instant) -> NewFact? {
        shares.unsaid(of: tenant).map { $0.fact(clock, now: now) }
    }

    // MARK: Sequences

    /// The newest durable event and fact of a tenant, among its own; 0 where it has none.
    func place(of tenant: TenantID) -> LogPlace { places[tenant] ?? .none }

    /// The sequence that the newest fact has, or will have when it is durable.
    var knownFactSeq: Int64 {
        lastFactSeq + Int64((inFlight?.facts.count ?? 0) + pending.facts.count)
    }

    // MARK: To the disk and back

    /// Whether a batch is on its way.
    var isBusy: Bool { inFlight != nil }

    /// When what waits is written although nothing urgent is there; nil while a batch is on its way
    /// or due.
    var flushAt: Instant? { isBusy || pending.isUrgent ? nil : pending.dueAt }

    /// What is written lazily goes with a batch soon.
    mutating func flushSoon(now: Instant) {
        if pending.flushAt == nil { pending.flushAt = now + flushDelay }
    }

    /// Facts that wait go with a batch at that time, or before. Marks that may wait do not go with
    /// them: one row covers many changes.
    mutating func flushFacts(at instant: Instant) {
        if !pending.facts.isEmpty { pending.factsAt = min(pending.factsAt ?? instant, instant) }
    }

    /// What waits is urgent, where no flush is planned yet.
    mutating func flushNow() {
        if pending.flushAt == nil { pending.flushAt = .distantPast }
    }

    /// What waits is urgent, also where a flush is planned.
    mutating func flushAtOnce() { pending.flushAt = .distantPast }

    /// Whether `take` has something.
    func hasBatch(now: Instant, writesAll: Bool) -> Bool {
        guard !isBusy, !pending.isEmpty else { return false }
        return writesAll || pending.isUrgent || pending.dueAt.map { $0 <= now } ?? true
    }

    /// The batch that goes now, and the destinations whose checkpoints go with it.
    ///
    /// - Parameter stays: an activity that has begun anew since it was to leave lives: the log
    ///   would take it away from what lives.
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

    /// So many late checkpoints go with one batch: ten thousand clips would else hold each other's
    /// frames up while their checkpoints are written.
    static let lateMarksMax = 256
    /// After such a batch the next waits so long.
    static let lateMarksPause = Span.milliseconds(20)

    /// The checkpoints that go with a batch although nothing waits for them, and what waits next.
    ///
    /// Under load a destination's checkpoint changes with every push. That an update went does not
    /// go with each batch that others bring about: one row covers many changes.
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

    /// The batch that was on its way is durable; nil where none was.
    mutating func committed(_ commit: AppendReceipt) -> JournalBatch? {
        guard let batch = inFlight else { return nil }
        inFlight = nil
        lastSeq = max(lastSeq, commit.firstSeq + Int64(batch.events.count) - 1)
        lastFactSeq = max(lastFactSeq, commit.firstFactSeq + Int64(batch.facts.count) - 1)
        // Most batches are of one tenant: one look at the table for each run of events.
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
    /// The kind of the fact that tells how many others are left out. It is about no activity, and
    /// for all readers.
    package static let thinned = "history.thinned"
}

extension FactShares.Thinning {
    /// As the history tells it.
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
