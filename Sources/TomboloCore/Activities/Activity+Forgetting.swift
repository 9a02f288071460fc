import TomboloJSON

extension Activity {
    /// Clears the large members of an activity that was removed from the table, to free memory.
    mutating func forget() {
        definition.attributes = .emptyObject
        definition.audience = .none
        accepted = Projection(
            restoring: .emptyObject, version: 0, changedAt: .distantPast, relevance: nil,
            staleAfter: nil, urgency: .normal, clip: nil, keptClip: nil, alert: nil,
            ending: Projection.Ending(at: .distantPast, dismissal: .standard), stateVersion: nil)
        durable = nil
        settle()
        channelDestination = nil
        alerts = []
        superseded = []
        traces = nil
        lives = nil
        destinations = []
    }
}
