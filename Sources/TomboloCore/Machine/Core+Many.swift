// Several commands as one: atomic batches, and one end for many.

extension Core {
    /// All or none: admitted one after the other on a copy, which is kept only if every one is taken.
    mutating func takeAtomically(
        _ commands: [Command], _ ticket: Ticket, now: Instant, effects: inout Effects
    ) {
        var trial = self
        var indices: [Int] = []
        for (index, command) in commands.enumerated() {
            switch trial.admit(command, now: now) {
            case .staged(let place): indices.append(place)
            case .standing, .replay:
                let refusal = Refusal(
                    .preconditionFailed,
                    "line \(index + 1) is there already; an atomic batch takes new events only")
                effects.answers.append((ticket, .refusedBatch(index: index, refusal)))
                return
            case .refused(let refusal):
                counters.commandsRefused += 1
                effects.answers.append((ticket, .refusedBatch(index: index, refusal)))
                return
            }
        }
        self = trial
        guard !indices.isEmpty else {
            effects.answers.append((ticket, .acceptedAll([])))
            return
        }
        staged.waiting.append(.events(indices: indices, ticket))
    }

    mutating func endMany(
        _ request: EndMany, _ ticket: Ticket, now: Instant, effects: inout Effects
    ) {
        var indices: [Int] = []
        for slot in running(of: request.tenant, type: request.type, user: request.user) {
            let command = Command(
                activity: activities[slot].key, content: .end(request.end), body: request.body)
            switch admit(command, now: now) {
            case .staged(let place): indices.append(place)
            case .standing, .replay: break
            case .refused(let refusal):
                // What was staged before it stays: each end stands for itself.
                counters.commandsRefused += 1
                if indices.isEmpty {
                    effects.answers.append((ticket, .refused(refusal)))
                    return
                }
            }
        }
        guard !indices.isEmpty else {
            effects.answers.append((ticket, .acceptedAll([])))
            return
        }
        staged.waiting.append(.events(indices: indices, ticket))
    }

    /// Slots of a tenant's running activities, oldest first.
    func running(of tenant: TenantID, type: String?, user: String?) -> [Int] {
        activities.indices.filter { slot in
            let activity = activities[slot]
            guard activity.key.tenant == tenant, !activity.hasEnded else { return false }
            if let type, activity.definition.type != type { return false }
            if let user { return isFor(user, activity) }
            return true
        }
    }

    func isFor(_ user: String, _ activity: Activity) -> Bool {
        switch activity.definition.audience {
        case .none: false
        case .user(let name): name == user
        case .devices:
            activity.destinations.contains { index in
                destinations[index].flatMap { devices[$0.device] }?.registration.user == user
            }
        }
    }
}
