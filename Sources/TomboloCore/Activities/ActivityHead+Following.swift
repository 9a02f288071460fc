import TomboloJSON

extension ActivityHead {
    /// The head that the core writes after `events`, the next events after the head at `version`;
    /// none may be a start. So a log need not store a head with each event.
    ///
    /// Only served alerts differ: this head still has them as waiting. Their destinations'
    /// checkpoints record that they were served.
    ///
    /// Nil if the head or an event cannot be read. A start's head contains more than the event (the
    /// app, the id in the attributes), so it cannot be made from the event.
    package static func following(
        _ head: ActivityHead, version: Int64, _ events: [RecordedEvent]
    ) -> ActivityHead? {
        guard
            var activity = Activity(
                head: head.value, number: head.activity, version: version, seq: 0)
        else { return nil }
        for recorded in events {
            guard recorded.event.kind != .start,
                // Damage is the answer.
                let document = try? JSONDocument(recorded.event.body),
                // Damage is the answer here, too.
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
