import TomboloJSON

/// The pending batch, the batch that is being written, and the answers that wait for them.
///
/// Only one batch is written at a time; later changes go into the next one. A batch with urgent
/// changes (an event, a reservation, an answer) is written as soon as possible, any other one
/// `flushDelay` after its first change. Only this folder looks into batches.
struct Journal: Sendable {
    private var pending = JournalBatch()
    private var inFlight: JournalBatch?
    /// Answers that are sent at the end of the present step.
    private var answers: [(Ticket, Answer)] = []
    /// Maximum time that changes which are not urgent wait.
    private let flushDelay: Span
    /// How much of the history each tenant uses.
    private var shares: FactShares
    /// The newest durable sequence numbers.
    private(set) var lastSeq: Int64 = 0
    private(set) var lastFactSeq: Int64 = 0
    /// The numbers of each tenant's newest durable event and fact.
    private var places: [TenantID: LogPlace] = [:]

    init(flushDelay: Span, _ shares: FactShares) {
        self.flushDelay = flushDelay
        self.shares = shares
    }

    mutating func recover(lastSeq: Int64, lastFactSeq: Int64, places: [TenantID: LogPlace]) {
        self.lastSeq = lastSeq
        self.lastFactSeq = lastFactSeq
        self.places = places
    }

    // MARK: Records and events

    mutating func write(_ record: Record) { pending.records.append(record) }

    mutating func write(_ records: [Record]) { pending.records += records }

    mutating func erase(_ space: RecordSpace, _ number: Int64) {
        write(Record(space: space, number: number, value: nil))
    }

    /// Adds an accepted event. Returns its index in the batch.
    mutating func append(_ event: consuming JournalBatch.Event) -> Int {
        // A commit examines an activity's cards only once, so only its first event counts them.
        if pending.weighed.insert(event.activity).inserted {
            pending.changed.append(event.activity)
        } else {
            event.weight -= 1
        }
        pending.touched.append(event.activity)
        pending.bodyBytes += event.event.body.count
        pending.weight += event.weight
        pending.events.append(event)
        return pending.events.count - 1
    }

    func event(_ index: Int) -> JournalBatch.Event { pending.events[index] }

    var eventCount: Int { pending.events.count }

    /// Activities with events in the pending batch, each once, in the order of their first events.
    var changed: [ActivitySlot] { pending.changed }

    /// True if the pending batch is large enough for one commit.
    var isFull: Bool {
        pending.weight >= Self.weightMax || pending.events.count >= Self.eventsMax
    }
    /// A unit of weight takes 3 µs and an event 1 to 2 µs, so a commit takes about 10 ms.
    static let (weightMax, eventsMax) = (2_000, 4_000)

    /// Bytes of events and other large objects in the pending batch.
    var bodyBytes: Int { pending.bodyBytes }

    mutating func addBytes(_ count: Int) { pending.bodyBytes += count }

    /// Events that are not durable yet: those of the pending batch, then those being written.
    var comingEvents: [JournalBatch.Event] { pending.events + (inFlight?.events ?? []) }

    /// Notes that the activity's head has changed by more than the events that change it.
    mutating func rewrite(_ activity: ActivitySlot) {
        pending.touched.append(activity)
        pending.rewritten.insert(activity)
    }

    /// Adds the reloads that must follow the batch being written.
    mutating func owe(_ owed: [OwedReload]) { inFlight?.owed = owed }

    /// True if the batch being written has reloads that must follow changes of this activity.
    func owes(_ number: Int64) -> Bool {
        inFlight?.owed.contains { $0.number == number } ?? false
    }

    /// Retires an ended activity with the batch, unless it gets a newer version before.
    mutating func retire(_ activity: JournalBatch.Retired, now: Instant) {
        pending.retired.append(activity)
        flushSoon(now: now)
    }

    /// True if so many activities retire with the pending batch that no more should.
    var retiresMuch: Bool { pending.retired.count >= Self.retiredMax }
    private static let retiredMax = 1_000

    mutating func drop() { pending = JournalBatch() }

    // MARK: Rollback

    /// A position in the pending batch, to which the batch can be rolled back.
    struct Place {
        fileprivate let events: Int
        fileprivate let touched: Int
    }

    var place: Place { Place(events: pending.events.count, touched: pending.touched.count) }

    /// Removes the events after the position from the pending batch. Returns them.
    mutating func takeBack(to place: Place) -> [JournalBatch.Event] {
        let events = Array(pending.events[place.events...])
        pending.bodyBytes -= events.reduce(0) { $0 + $1.event.body.count }
        pending.weight -= events.reduce(0) { $0 + $1.weight }
        pending.events.removeLast(pending.events.count - place.events)
        pending.touched.removeLast(pending.touched.count - place.touched)
        pending.weighed = Set(pending.events.map(\.activity))
        pending.changed.removeAll { !pending.weighed.contains($0) }
        return events
    }

    // MARK: Tickets

    /// Answers a ticket at the end of this step, without a write.
    mutating func answerNow(_ ticket: Ticket, _ answer: Answer) {
        answers.append((ticket, answer))
    }

    /// Moves the answers of this step to the end of `others`.
    mutating func moveAnswers(to others: inout [(Ticket, Answer)]) {
        guard !answers.isEmpty else { return }
        if others.isEmpty { return swap(&answers, &others) }
        others += answers
        answers.removeAll(keepingCapacity: true)
    }

    /// The answer to a ticket in this step; nil if there is none yet.
    func answer(to ticket: Ticket) -> Answer? { answers.first { $0.0 == ticket }?.1 }

    mutating func answer(_ ticket: Ticket, _ stored: Stored) {
        pending.stored.append((ticket, stored))
    }

    mutating func answer(_ waiting: JournalBatch.Waiting) { pending.waiting.append(waiting) }

    /// The answer that a ticket gets when the pending batch is durable; nil if there is none.
    func comingAnswer(to ticket: Ticket) -> Stored? {
        pending.stored.first { $0.0 == ticket }?.1
    }

    // MARK: Destinations

    mutating func checkpoint(_ destination: CardSlot) {
        pending.dirtyCheckpoints.append(destination)
    }

    /// Writes the destination's checkpoint with the next batch that has room, at the latest soon.
    ///
    /// - Parameter mayWait: true if the checkpoint may wait until the flush is due.
    mutating func checkpointLater(_ destination: CardSlot, mayWait: Bool, now: Instant) {
        if mayWait {
            pending.lazyCheckpoints.append(destination)
        } else {
            pending.lateCheckpoints.append(destination)
        }
        flushSoon(now: now)
    }

    /// Lets a push wait until the budget that it has spent is durable.
    mutating func reserve(_ slot: CardSlot, _ destination: Int64) {
        pending.dirtyCheckpoints.append(slot)
        pending.reservations.append(.init(slot: slot, destination: destination))
    }

    /// Lets a push wait until a newer reading of the clock is durable.
    mutating func awaitClock(_ slot: CardSlot, _ destination: Int64) {
        pending.clockWaits.append(.init(slot: slot, destination: destination))
    }

    /// Lets an end wait until the card that replaces the ended one is durable.
    mutating func awaitSuccession(_ slot: CardSlot, _ destination: Int64) {
        pending.successions.append(.init(slot: slot, destination: destination))
    }

    /// Like `reserve`, for the reload of a widget or a control.
    mutating func reserveSurface(_ surface: SurfaceSlot) {
        pending.surfaceReservations.append(surface)
    }

    /// True if the end of a batch wakes the card.
    func wakes(_ slot: CardSlot, _ card: Destination) -> Bool {
        [pending, inFlight ?? JournalBatch()].contains { batch in
            (batch.reservations + batch.clockWaits + batch.successions).contains {
                $0.slot == slot && $0.destination == card.number
            } || batch.touched.contains(card.activity)
                || batch.tokens.contains { $0.device == card.device }
        }
    }

    /// True if the pending batch, or one after it, writes the card's row.
    func writes(_ slot: CardSlot) -> Bool {
        let (dirty, late) = (pending.dirtyCheckpoints, pending.lateCheckpoints)
        let waiting = pending.lazyCheckpoints + pending.flushedCheckpoints
        return (dirty + late + waiting).contains(slot)
    }

    /// Lets pushes use an update token when the token is durable.
    mutating func keep(_ token: JournalBatch.Token) { pending.tokens.append(token) }

    // MARK: Facts

    /// Writes a fact of a tenant.
    ///
    /// - Parameter isDetail: true if the fact may be left out, and counted, because its tenant has
    ///   used up its part of the history (`FactShares`).
    /// - Returns: true if the fact is written.
    mutating func note(_ fact: NewFact, isDetail: Bool = false, now: Instant) -> Bool {
        guard
            shares.takes(fact.kind, fact.body, of: fact.tenant, isDetail: isDetail, now: now)
        else { return false }
        pending.facts.append(fact)
        flushSoon(now: now)
        return true
    }

    /// When the next report about left-out facts is due; nil if there is nothing to report.
    var leftOutDueAt: Instant? { shares.dueAt }

    /// Writes the reports about left-out facts that are due: a tenant's first at once, then one a
    /// minute.
    mutating func sayWhatIsLeftOut(_ clock: CoreClock, now: Instant, all: Bool = false) {
        guard shares.dueAt != nil else { return }
        for thinning in shares.thinnings(now: now, all: all) {
            _ = note(thinning.fact(clock, now: now), now: now)
        }
    }

    /// The report about the tenant's left-out facts that is not written yet; nil if there is none.
    func comingThinning(of tenant: TenantID, _ clock: CoreClock, now: Instant) -> NewFact? {
        shares.unsaid(of: tenant).map { $0.fact(clock, now: now) }
    }

    // MARK: Sequences

    /// The numbers of the tenant's newest durable event and fact; 0 if it has none.
    func place(of tenant: TenantID) -> LogPlace { places[tenant] ?? .none }

    /// The number of the newest fact, durable or not.
    var knownFactSeq: Int64 {
        lastFactSeq + Int64((inFlight?.facts.count ?? 0) + pending.facts.count)
    }

    // MARK: Writing

    var isBusy: Bool { inFlight != nil }

    /// When the pending batch is written if nothing in it is urgent; nil while a batch is being
    /// written, or if something is urgent.
    var flushAt: Instant? { isBusy || pending.isUrgent ? nil : pending.dueAt }

    /// Lets the pending batch be written after `flushDelay`, unless that is planned already.
    mutating func flushSoon(now: Instant) {
        if pending.flushAt == nil { pending.flushAt = now + flushDelay }
    }

    /// Lets the pending facts be written at `instant` at the latest. Checkpoints that may wait stay
    /// in memory, because one row then covers more changes.
    mutating func flushFacts(at instant: Instant) {
        if !pending.facts.isEmpty { pending.factsAt = min(pending.factsAt ?? instant, instant) }
    }

    /// Lets the pending batch be written now, unless a flush is planned.
    mutating func flushNow() {
        if pending.flushAt == nil { pending.flushAt = .distantPast }
    }

    /// Lets the pending batch be written now, even if a flush is planned.
    mutating func flushAtOnce() { pending.flushAt = .distantPast }

    func hasBatch(now: Instant, writesAll: Bool) -> Bool {
        guard !isBusy, !pending.isEmpty else { return false }
        return writesAll || pending.isUrgent || pending.dueAt.map { $0 <= now } ?? true
    }

    /// Takes the batch to write now, and the destinations whose checkpoints go with it.
    ///
    /// - Parameter stays: true for an activity that was started again meanwhile and must not be
    ///   retired.
    mutating func takeBatch(
        now: Instant, writesAll: Bool, stays: (JournalBatch.Retired) -> Bool
    ) -> (batch: JournalBatch, checkpoints: [CardSlot]) {
        let late = takeLateCheckpoints(now: now, writesAll: writesAll)
        let checkpoints = pending.dirtyCheckpoints + late.taken
        pending.retired.removeAll(where: stays)
        let batch = pending
        inFlight = batch
        pending = late.left
        return (batch, checkpoints)
    }

    /// Maximum number of late checkpoints in one batch. Without it, those of ten thousand clips
    /// would delay the clips' frames.
    static let lateCheckpointsMax = 256
    /// Time until the next batch if late checkpoints did not fit.
    static let lateCheckpointsPause = Span.milliseconds(20)

    /// The late checkpoints for this batch, and a new batch with those that stay.
    ///
    /// Under load a destination's checkpoint changes with every push. If only an update was sent,
    /// the checkpoint therefore waits, so that one row covers many changes.
    private mutating func takeLateCheckpoints(
        now: Instant, writesAll: Bool
    ) -> (taken: [CardSlot], left: JournalBatch) {
        let isDue = writesAll || pending.flushAt.map { $0 <= now } ?? false
        let room = writesAll ? .max : Self.lateCheckpointsMax
        var left = JournalBatch()
        if isDue {
            pending.flushedCheckpoints += pending.lazyCheckpoints
        } else if !pending.lazyCheckpoints.isEmpty {
            left.lazyCheckpoints = pending.lazyCheckpoints
            left.flushAt = pending.flushAt ?? now + flushDelay
        }
        var taken = Array(pending.lateCheckpoints.prefix(room))
        left.lateCheckpoints = Array(pending.lateCheckpoints.dropFirst(room))
        let rest = room - taken.count
        taken += pending.flushedCheckpoints.prefix(rest)
        left.flushedCheckpoints = Array(pending.flushedCheckpoints.dropFirst(rest))
        if !left.lateCheckpoints.isEmpty || !left.flushedCheckpoints.isEmpty {
            left.restAt = now + Self.lateCheckpointsPause
        }
        pending.lateCheckpoints = []
        pending.lazyCheckpoints = []
        pending.flushedCheckpoints = []
        return (taken, left)
    }

    /// Handles the end of the write: the batch is durable. Returns the batch; nil if there was
    /// none.
    mutating func committed(_ commit: AppendReceipt) -> JournalBatch? {
        guard let batch = inFlight else { return nil }
        inFlight = nil
        lastSeq = max(lastSeq, commit.firstSeq + Int64(batch.events.count) - 1)
        lastFactSeq = max(lastFactSeq, commit.firstFactSeq + Int64(batch.facts.count) - 1)
        // Most batches belong to one tenant: update the table once for each run of equal tenants.
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
    /// The kind of the facts that count left-out facts. They belong to no activity and no device,
    /// so every reader gets them.
    package static let thinned = "history.thinned"
}

extension FactShares.Thinning {
    fileprivate func fact(_ clock: CoreClock, now: Instant) -> NewFact {
        let body = JSON.object { writer in
            writer.member("from", clock.wall(from).rfc3339)
            writer.object("left_out") { writer in
                for (kind, count) in leftOut { writer.member(kind, count) }
            }
        }
        return NewFact(
            tenant: tenant, activity: nil, kind: NewFact.thinned, recordedAt: clock.wall(now),
            body: body.bytes)
    }
}
