extension Payload.Content {
    /// Sets the fields that come from the projection, except the state: for an end the dismissal
    /// date, for other events relevance and stale date. Every start has a stale date.
    mutating func describe(_ projection: Projection, at wall: Instant) {
        guard event != .end else {
            dismissalDate = projection.ending?.date?.seconds
            return
        }
        relevance = projection.relevance
        let date = projection.staleDate(in: event, at: wall)
        staleDate = (date ?? (event == .start ? wall + Limits.systemCardLife : nil))?.seconds
    }
}

extension Projection {
    /// Shortest time for which a card that begins is not stale. A phone never shows a card that
    /// begins stale.
    static let startFreshMin = Span.seconds(60)

    /// When the producer's data becomes stale: `stale_after` after its last event. Nil: never.
    package var staleDate: Instant? { staleAfter.map { changedAt + $0 } }

    /// The stale date that a push carries: that of the data, also if it has passed.
    func staleDate(in event: Push.Event, at wall: Instant) -> Instant? {
        switch event {
        case .start: staleDate.map { max($0, wall + Self.startFreshMin) }
        case .update: staleDate
        case .end: nil
        }
    }
}
