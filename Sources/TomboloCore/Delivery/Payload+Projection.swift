extension Payload.Content {
    /// What a push says of a projection besides its state: relevance, and when the card is stale or
    /// goes away. Every start has a stale date.
    mutating func describe(_ projection: Projection, at wall: Instant) {
        guard event != .end else {
            dismissalDate = projection.ending?.date?.seconds
            return
        }
        relevance = projection.relevance
        let after = projection.staleAfter ?? (event == .start ? Limits.systemCardLife : nil)
        staleDate = after.map { (wall + $0).seconds }
    }
}
