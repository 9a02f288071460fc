extension IdempotencyIndex {
    /// What is known about an atomic batch from the ids of its lines.
    enum Knowledge {
        /// No line is in the log.
        case new
        /// All lines have an id that is in the log: the batch is a repetition.
        case sent(seqs: [Int64])
        /// All lines have an id; some of the ids are in the log.
        case partly(there: [Int], missing: [Int])
        /// Some lines are in the log and others have no id: the batch is refused because of this
        /// line.
        case refused(index: Int, Refusal)
    }

    func knowledge(of commands: [Command], at now: Instant) -> Knowledge {
        var (there, missing, seqs) = ([Int](), [Int](), [Int64]())
        for (index, command) in commands.enumerated() {
            guard let key = command.idempotency,
                case .recorded(let seq)? = entry(
                    command.activity.tenant, key.key, at: now)
            else {
                missing.append(index)
                continue
            }
            there.append(index)
            seqs.append(seq)
        }
        guard let first = there.first else { return .new }
        if missing.isEmpty { return .sent(seqs: seqs) }
        guard let nameless = missing.first(where: { commands[$0].idempotency == nil }) else {
            return .partly(there: there, missing: missing)
        }
        return .refused(
            index: first,
            Refusal(
                .preconditionFailed,
                "line \(first + 1) is there already; line \(nameless + 1) has no id, so the batch "
                    + "counts as a new one each time: give every line an id, and the same batch is "
                    + "answered as before"))
    }
}
