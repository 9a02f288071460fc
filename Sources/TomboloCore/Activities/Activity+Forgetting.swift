import TomboloJSON

extension Activity {
    /// Lets go of all that takes memory; what is left has ended and is nobody's.
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
