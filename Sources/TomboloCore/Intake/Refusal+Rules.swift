extension Refusal {
    package static let keyReused = Refusal(
        .idempotencyKeyReused,
        "this key came with another request before; a new request needs a new key")

    static func unknownChannel(_ name: Identifier) -> Refusal {
        Refusal(
            .unknownChannel,
            "no channel \"\(name)\"; make it first with PUT /v1/channels/\(name)",
            errors: [FieldError(pointer: "/audience/channel", message: "is not there")])
    }

    static func unknownTimeline(_ key: TimelineKey) -> Refusal {
        Refusal(
            .unknownTimeline,
            "no timeline \"\(key.kind)\" of \(key.subject.name) \"\(key.subject.text)\"; put it "
                + "there first with PUT /v1/timelines/\(key.kind)")
    }

    /// The refusal of a start while the activity already runs.
    static func running(_ activity: Activity, restart: Bool) -> Refusal {
        Refusal(
            .activityRunning,
            restart
                ? "the activity is running, also where its cards are gone: end it first, then start "
                    + "it with ?restart=true"
                : "the activity runs with another start; change it with PATCH "
                    + "/v1/activities/\(activity.key.id), or end it first",
            version: activity.accepted.version)
    }
}
