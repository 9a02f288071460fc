extension Payload.Content {
    /// Sets the fields that come from the projection, except the state: for an end the dismissal
    /// date, for other events relevance and stale date. Every start has a stale date.
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
