// What operators do, on record, and the API keys that they give.

extension Core {
    /// A deed comes before its input. Without a ticket it has none, and is on record at once.
    mutating func adopt(_ deed: Deed, _ ticket: Ticket, now: Instant) {
        guard ticket.rawValue > 0 else {
            note(deed.tenant, nil, deed.kind, deed.body, now: now)
            return
        }
        self.deed = (deed, ticket)
    }

    /// A deed is on record if its input has stored something, or has been answered without a
    /// refusal.
    mutating func settleDeed(now: Instant) {
        guard let (deed, ticket) = deed else { return }
        self.deed = nil
        let isStored = journal.comingAnswer(to: ticket) != nil
        let isDone = if case .stored? = journal.answer(to: ticket) { true } else { false }
        if isStored || isDone { note(deed.tenant, nil, deed.kind, deed.body, now: now) }
    }

    /// Keeps API keys together; a nil value forgets one.
    mutating func keep(_ stored: [(number: Int64, value: [UInt8]?)], _ ticket: Ticket) {
        for (number, value) in stored {
            journal.write(keys.keep(number, value))
        }
        let isDeleted = stored.allSatisfy { $0.value == nil }
        journal.answer(ticket, Stored(isDeleted ? .deleted : .updated))
    }
}
