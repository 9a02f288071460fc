import TomboloJSON

// Several commands as one: atomic batches, and ends of many activities.

extension Core {
    /// Accepts all commands or none: if one is refused, those before it are rolled back.
    mutating func takeAtomically(
        _ commands: [Command], _ ticket: Ticket, now: Instant
    ) {
        if let (index, refusal) = tooManyCards(commands) {
            if let command = commands.first {
                counters[command.activity.tenant].commandsRefused += 1
            }
            journal.answerNow(ticket, .refusedBatch(index: index, refusal))
            return
        }
        switch idempotency.knowledge(of: commands, at: now) {
        case .new: break
        case .sent(let seqs): return journal.answerNow(ticket, .replayAll(seqs: seqs))
        case .partly(let there, let missing):
            return journal.answerNow(ticket, .partlyThere(there: there, missing: missing))
        case .refused(let index, let refusal):
            return journal.answerNow(ticket, .refusedBatch(index: index, refusal))
        }
        makeRoom(for: commands, now: now)
        var undo = Undo(self)
        var indices: [Int] = []
        for (index, command) in commands.enumerated() {
            undo.note(command, in: self)
            switch admit(command, now: now) {
            case .pending(let place): indices.append(place)
            case .standing, .replay:
                takeBack(undo)
                let refusal = Refusal(
                    .preconditionFailed,
                    "line \(index + 1) is there already; an atomic batch takes new events only. Give "
                        + "every line an id: the same batch is then answered as before")
                journal.answerNow(ticket, .refusedBatch(index: index, refusal))
                return
            case .refused(let refusal):
                takeBack(undo)
                counters[command.activity.tenant].commandsRefused += 1
                journal.answerNow(ticket, .refusedBatch(index: index, refusal))
                return
            }
        }
        guard !indices.isEmpty else {
            journal.answerNow(ticket, .acceptedAll([]))
            return
        }
        journal.answer(.events(indices: indices, ticket))
    }

    /// The first command that makes an atomic batch too large for one step, with its refusal.
    private func tooManyCards(_ commands: [Command]) -> (index: Int, Refusal)? {
        var weight = 0
        for (index, command) in commands.enumerated() {
            var count = 0
            if case .start(let start) = command.content {
                count = devices.cards(of: start.audience, command.activity.tenant)
            }
            weight += max(1, count)
            guard count > 1, weight > configuration.limits.atomicCardsMax, index > 0 else {
                continue
            }
            let most = configuration.limits.atomicCardsMax
            return (
                index,
                Refusal(
                    .invalidField,
                    "the starts of an atomic batch are for \(most) devices at most; send several "
                        + "batches, or leave out ?atomic=true",
                    errors: [FieldError(pointer: "/audience", message: "is one too many")])
            )
        }
        return nil
    }

    /// What a rollback of an atomic batch needs.
    private struct Undo {
        let place: Journal.Place
        var before: [ActivitySlot: Activity] = [:]
        /// The destinations of the activities in `before`, as they were. A restart changes them.
        var destinations: [CardSlot: Destination] = [:]
        /// Activities that did not exist before the batch. A rollback removes them.
        var created: [ActivityKey] = []
        var keys: [(TenantID, String)] = []
        let rates: KeyRates

        init(_ core: borrowing Core) {
            (place, rates) = (core.journal.place, core.keys.rates)
        }

        mutating func note(_ command: Command, in core: borrowing Core) {
            if let slot = core.activities.slot(of: command.activity) {
                guard before[slot] == nil else { return noteKey(of: command, in: core) }
                before[slot] = core.activities[slot]
                for index in core.activities[slot].destinations {
                    destinations[index] = core.destinations.at(index)
                }
            } else {
                created.append(command.activity)
            }
            noteKey(of: command, in: core)
        }

        private mutating func noteKey(of command: Command, in core: borrowing Core) {
            let tenant = command.activity.tenant
            if let key = command.idempotency?.key, core.idempotency[tenant, key] == nil {
                keys.append((tenant, key))
            }
        }
    }

    private mutating func takeBack(_ undo: Undo) {
        keys.rates = undo.rates
        for event in journal.takeBack(to: undo.place) {
            counters[event.event.tenant].eventsAccepted -= 1
            guard let start = event.definition else { continue }
            audiences.noteComing(
                -1, start.audience, cards: devices.cards(of: start.audience, event.event.tenant),
                of: event.event.tenant)
        }
        for key in undo.created {
            if let slot = activities.slot(of: key) { activities.remove(slot) }
        }
        for (slot, activity) in undo.before where activities.slot(of: activity.key) == slot {
            activities.restore(activity, at: slot)
        }
        for (slot, destination) in undo.destinations {
            destinations[slot].nextFinal = destination.nextFinal
            destinations[slot].phase = destination.phase
        }
        for (tenant, key) in undo.keys { idempotency.drop(tenant, key) }
    }

    /// Ends the running activities in the request's slots that match it, at most `pieceMax`. If
    /// none can be ended, answers with the first refusal.
    mutating func endMany(
        _ request: EndMany, _ ticket: Ticket, now: Instant
    ) {
        var indices: [Int] = []
        var refused: Refusal?
        for slot in activities.indices.clamped(to: request.slots) where matches(slot, request) {
            guard indices.count < EndMany.pieceMax else { break }
            var command = Command(
                activity: activities[slot].key, content: .end(request.end), body: request.body)
            command.key = request.key
            switch admit(command, isRated: false, now: now) {
            case .pending(let place): indices.append(place)
            case .standing, .replay: break
            case .refused(let refusal):
                // The ends before this one stay in the pending batch, because each is independent.
                counters[request.tenant].commandsRefused += 1
                refused = refused ?? refusal
            }
            // For these reasons all further ends would be refused, too.
            if refused?.code == .overloaded || refused?.code == .logFull { break }
        }
        guard !indices.isEmpty else {
            journal.answerNow(ticket, refused.map(Answer.refused) ?? .acceptedAll([]))
            return
        }
        journal.answer(.events(indices: indices, ticket))
    }

    /// Ends activities whose producers have been silent for `end_after`: at most `pieceMax` in a
    /// call.
    mutating func endSilent(now: Instant) {
        var left = EndMany.pieceMax
        while left > 0, let slot = activities.silences.pop(until: now) {
            // If an event is not durable yet, the producer is not silent: skip the activity.
            guard activities[slot].durable?.version == activities[slot].accepted.version,
                let after = activities[slot].definition.endAfter
            else { continue }
            left -= 1
            let key = activities[slot].key
            var command = Command(
                activity: key, content: .end(End(change: .none)), body: Array("{}".utf8))
            command.key = .relay
            // Try again in a minute if the end is refused. If it is accepted, its commit removes
            // this deadline.
            activities.silences.set(slot, at: now + .minutes(1))
            guard case .pending = admit(command, now: now) else { continue }
            let why = JSON.object { writer in
                writer.member("reason", "end_after")
                writer.member("end_after", after.text)
            }
            note(key.tenant, activities[slot].number, "activity.ended", why.bytes, now: now)
        }
    }

    package var newestActivity: ActivityNumber { activities.newest }

    /// The range of slots from `place` on that one step examines; nil after the last slot.
    package func piece(of request: EndMany, from place: Int) -> Range<Int>? {
        guard place < activities.count else { return nil }
        var (end, found, looked) = (place, 0, 0)
        while end < activities.count, found < EndMany.pieceMax, looked < EndMany.lookedAtMax {
            let slot = ActivitySlot(end)
            let isOne = matches(slot, request)
            if isOne { found += 1 }
            let hasLookedAtCards = isOne || request.user != nil
            looked += 1 + (hasLookedAtCards ? activities[slot].destinations.count : 0)
            end += 1
        }
        return place..<end
    }

    func matches(_ slot: ActivitySlot, _ request: EndMany) -> Bool {
        guard !activities[slot].hasEnded,
            activities[slot].key.tenant == request.tenant
        else { return false }
        if let last = request.through, activities[slot].number > last { return false }
        if let type = request.type, !isSameText(activities[slot].definition.type, type) {
            return false
        }
        return request.user.map { isFor($0, activities[slot]) } ?? true
    }

    func isFor(_ user: String, _ activity: Activity) -> Bool {
        switch activity.definition.audience {
        case .none, .channel: false
        case .user(let name): isSameText(name, user)
        case .devices:
            activity.destinations.contains { index in
                let device = destinations.at(index).flatMap { devices[$0.device] }
                return isSameText(device?.registration.user, user)
            }
        }
    }
}
