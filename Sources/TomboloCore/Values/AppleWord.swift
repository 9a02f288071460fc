/// Finds the relay's name for a member that Apple's payload, or another sender's, names
/// differently. New users write Apple's names, and the edit distance cannot find the relay's:
/// `priority` is not similar to `urgency`.
enum AppleWord {
    /// The name in `known` that `name` means; nil if there is none. `content-state`,
    /// `content_state` and `contentState` count as the same.
    static func meant(by name: String, among known: [String]) -> String? {
        own[plain(name)]?.first { known.contains($0) }
    }

    /// What to do instead of writing this member, as the end of a sentence; nil for other names.
    static func advice(on name: String, among known: [String]) -> String? {
        if known.contains("subject"), ["user", "device", "key"].contains(name) {
            return #"; it belongs into "subject": {"\#(name)":…}"#
        }
        return known.contains("alert") ? sentences[plain(name)] : nil
    }

    private static func plain(_ name: String) -> String {
        guard name.utf8.count <= nearNameBytesMax else { return "" }
        return name.lowercased().filter { $0 != "-" && $0 != "_" }
    }

    private static let own: [String: [String]] = [
        "activityattributes": ["attributes"], "activitytype": ["type"],
        "apnspriority": ["urgency"], "apnstopic": ["app"], "attributestype": ["type"],
        "bundleid": ["app"], "channelid": ["channel"], "contentstate": ["state", "content"],
        "data": ["state", "content"], "devicetoken": ["token"], "dismissaldate": ["dismiss"],
        "event": ["do"], "osversion": ["os"], "payload": ["state", "content"],
        "priority": ["urgency"], "pushtoken": ["token"], "relevancescore": ["relevance"],
        "staledate": ["stale_after"], "state": ["phase", "content"], "status": ["phase"],
        "systemversion": ["os"], "topic": ["app"],
    ]

    private static let sentences = [
        "aps": "; the relay makes Apple's payload: give \"state\", \"alert\" and the like here",
        "apnsid": "; the relay makes it, and the answer with Prefer: wait=2 shows it",
        "event": "; method and path say it: PUT starts, PATCH updates, POST …/end ends",
        "timestamp": "; the relay makes Apple's timestamp: leave it out",
    ]
}
