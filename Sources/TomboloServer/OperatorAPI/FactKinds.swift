/// The kinds of facts in a log, with the names that the query parameter `fact=` accepts.
enum FactKinds {
    static let all = [
        "action", "activity.ended", "alert.expired", "card.began", "card.dismissed", "card.ended",
        "card.lost", "card.reported", "clip.frames", "clock.behind", "clock.right",
        "config.reloaded", "dead-letters.retried", "device.deleted", "device.registered",
        "device.user_changed", "disk.full", "disk.has_room", "erased", "history.thinned",
        "key.minted", "key.removed", "key.rotated", "log.answers", "log.full", "log.has_room",
        "log.unavailable", "pause.began",
        "pause.ended", "presence.covered", "presence.leaving", "presence.returning",
        "push.accepted", "push.expired", "push.merged", "push.not_sent", "push.refused",
        "push.skipped", "push.unknown", "relay.started", "relay.stopped", "reload.refused",
        "reload.sent", "timeline.due", "token.deleted", "token.registered", "token.retired",
        "type.put", "upstream.closed", "upstream.open", "upstream.retried",
    ]

    /// The results of pushes, with the names that the query parameter `result=` accepts.
    static let results = all.filter { $0.hasPrefix("push.") }.map { String($0.dropFirst(5)) }
}
