import TomboloJSON

extension ActivityHead {
    /// The head that the core writes after `events`, which follow the head at `version`. So a log
    /// need not store a head with each event. Only alerts may differ: this head may list sent
    /// alerts as waiting. The checkpoints of the destinations show that they were sent.
    ///
    /// Returns nil if the head or an event cannot be read, or if an event is a start: a start's
    /// head has values that its event lacks (the app, the id in the attributes).
    package static func following(
        _ head: ActivityHead, version: Int64, _ events: [RecordedEvent]
    ) -> ActivityHead? {
        guard
            var activity = Activity(
                head: head.value, number: head.activity, version: version, seq: 0)
        else { return nil }
        for recorded in events {
            guard recorded.event.kind != .start,
                // The nil result reports the damage, so the error is dropped.
                let document = try? JSONDocument(recorded.event.body),
                // The same holds for an invalid command.
                let content = try? Command.Content(
                    kind: recorded.event.kind, document.root, lenient: true)
            else { return nil }
            activity.accepted.apply(
                content, version: recorded.version, at: recorded.event.recordedAt)
            if let alert = activity.accepted.alert, alert.version == recorded.version {
                activity.alerts.append(alert)
            }
        }
        return ActivityHead(of: activity, follows: false)
    }
}
