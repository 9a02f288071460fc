import TomboloCore

/// Guesses which word was meant by a wrong one.
enum Suggestion {
    /// The only candidate that begins with `word`, else the one with the most similar spelling. Nil
    /// if none is similar enough, or if that one takes something away.
    static func nearest(to word: String, among candidates: [String]) -> String? {
        let begun = candidates.filter { $0.hasPrefix(word) }
        if word.utf8.count >= 2, begun.count == 1 { return takesAway(begun[0]) ? nil : begun[0] }
        return nearestName(to: word, among: candidates)
    }

    /// Returns `"; did you mean X?"`, or an empty text.
    static func question(_ word: String, among candidates: [String]) -> String {
        nearest(to: word, among: candidates).map { "; did you mean \($0)?" } ?? ""
    }

    /// The same for a command: what other tools call so comes before what is spelt so.
    ///
    /// - Parameter group: the first word of commands with two words; nil for the first word itself.
    static func correction(
        _ word: String, of group: String?, among candidates: [String]
    ) -> String {
        let verbs = group == nil ? otherCommands : otherMembers
        let meant = verbs.first { $0.words.contains(word) }?.commands.filter {
            group == nil || candidates.contains($0)
        }
        guard let meant, !meant.isEmpty else { return question(word, among: candidates) }
        let shown = group == nil ? meant : Array(meant.prefix(1))
        return "; did you mean \(shown.joined(separator: " or "))?"
    }

    /// Commands of other tools, and those that do the same here.
    static let otherCommands: [(words: [String], commands: [String])] = [
        (["send", "push", "notify", "post"], ["start", "update"]),
        (["create", "new", "add", "begin"], ["start"]),
        (["patch", "set", "edit", "change", "modify"], ["update"]),
        (["delete", "remove", "rm", "stop", "cancel", "finish", "close", "dismiss"], ["end"]),
        (["list", "ls", "activities"], ["activity ls"]),
        (["show", "get", "describe"], ["activity show"]),
        (["devices"], ["device ls"]),
        (["status"], ["doctor"]), (["health", "ping", "live"], ["ready"]),
        (["check"], ["config check", "device check"]), (["unpause", "continue"], ["resume"]),
        (["logs", "events", "history"], ["log ls"]),
        (["watch", "follow", "subscribe"], ["tail"]),
        (["explain", "debug"], ["why"]),
        (["init", "setup"], ["config init"]),
        (["run", "up", "server", "daemon"], ["serve"]),
        (["simulator", "simulate"], ["sim"]),
    ]
    /// The same for the second word of a command; the first one that the group has is meant.
    static let otherMembers: [(words: [String], commands: [String])] = [
        (["list", "all"], ["ls"]),
        (["get", "info", "describe", "view", "cat"], ["show"]),
        (["create", "new", "add", "make"], ["put", "mint", "create", "init"]),
        (["set", "update", "refresh"], ["put", "reload"]),
        (["delete", "remove", "del", "destroy", "revoke"], ["rm"]),
    ]
}
