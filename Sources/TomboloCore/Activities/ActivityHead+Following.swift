import TomboloJSON

extension ActivityHead {
    /// The head that the core writes after `events`, which come next after the head that stands at
    /// `version`, none of them a start: so that a log need not store it with each of them.
    ///
    /// It is the same but for alerts that were served meanwhile: they stand in it as waiting. Who
    /// was served knows so by a mark of its own.
    ///
    /// Nil where the head or one of the events cannot be read. A start decides more than it says
    /// (the app, the id in the attributes): its head cannot be made from it.
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
                // As above.
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
