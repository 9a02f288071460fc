// Operators' actions ("deeds"), which become facts, and their API keys.

extension Core {
    /// Keeps an operator's action until its input is handled. Without a ticket, writes its fact at
    /// once.
    mutating func adopt(_ deed: Deed, _ ticket: Ticket, now: Instant) {
        guard ticket.rawValue > 0 else {
            note(deed.tenant, nil, deed.kind, deed.body, now: now)
            return
        }
        self.deed = (deed, ticket)
    }

    /// Writes the fact of the kept action if its input was not refused.
    mutating func settleDeed(now: Instant) {
        guard let (deed, ticket) = deed else { return }
        self.deed = nil
        let isStored = journal.comingAnswer(to: ticket) != nil
        let isDone = if case .stored? = journal.answer(to: ticket) { true } else { false }
        if isStored || isDone { note(deed.tenant, nil, deed.kind, deed.body, now: now) }
    }

    /// Stores several API keys; a nil value deletes a key.
    mutating func keep(_ stored: [(number: Int64, value: [UInt8]?)], _ ticket: Ticket) {
        for (number, value) in stored {
            journal.write(keys.keep(number, value))
        }
        let isDeleted = stored.allSatisfy { $0.value == nil }
        journal.answer(ticket, Stored(isDeleted ? .deleted : .updated))
    }
}
