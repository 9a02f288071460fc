import TomboloJSON

extension Activity {
    /// Frees the memory of an activity that has left its place: everything large is cleared.
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
        destinations = []
    }
}
