/// The requests that texts of the relay name, as commands of this program: somebody who types
/// commands does not send `GET /v1/pauses`.
enum CommandWords {
    /// Method, path and command. A `*` of the path is put in the place of the command's `*`.
    private static let rows: [(method: String, path: String, command: String)] = [
        ("GET", "activities", "activity ls"), ("GET", "activities/*", "activity show *"),
        ("PUT", "activities/*", "start *"), ("PATCH", "activities/*", "update *"),
        ("POST", "activities/*/end", "end *"), ("POST", "activities/end", "end --type TYPE"),
        ("POST", "activities/*/clips", "clip play *"),
        ("DELETE", "activities/*/clips/*", "clip stop *"),
        ("PUT", "types/*", "type put *"), ("GET", "types", "type ls"),
        ("PUT", "timelines/*", "timeline put *"), ("GET", "timelines", "timeline ls"),
        ("PUT", "channels/*", "channel put *"), ("GET", "channels", "channel ls"),
        ("GET", "devices", "device ls"), ("GET", "devices/*", "device show *"),
        ("GET", "log", "log ls"), ("GET", "deliveries", "delivery ls"),
        ("GET", "dead-letters", "dead ls"), ("GET", "pauses", "pause"),
        ("GET", "requests", "requests"), ("GET", "search", "search TEXT"),
        ("GET", "keys", "key ls"), ("DELETE", "keys/*", "key rm *"),
    ]

    /// The text with a command in the place of each request that has one.
    static func replacingRequests(in text: String) -> String {
        var (result, rest) = ("", text[...])
        while let begin = rest.firstRange(of: " /v1/") {
            let method = rest[..<begin.lowerBound].reversed().prefix { $0.isUppercase }
            let path = rest[begin.upperBound...].prefix { !" ,;)\"?\n".contains($0) }
            let end = path.reversed().drop { $0 == "." || $0 == ":" }.startIndex.base
            let before = rest[..<begin.lowerBound].dropLast(method.count)
            var words = command(String(method.reversed()), String(path[..<end]))
            // No command does it: the app registers its device.
            if words == nil, before.hasSuffix("with "), path.hasPrefix("devices/") {
                words = "the app"
            }
            result += words == nil ? rest[..<begin.lowerBound] : before
            result += words ?? String(rest[begin.lowerBound..<end])
            rest = rest[end...]
        }
        return result + rest
    }

    private static func command(_ method: String, _ path: String) -> String? {
        let parts = path.split(separator: "/")
        // `activities/end` comes after `activities/*`, and is meant.
        let row = rows.last { row in
            let pattern = row.path.split(separator: "/")
            return row.method == method && pattern.count == parts.count
                && zip(pattern, parts).allSatisfy { $0 == "*" || $0 == $1 }
        }
        guard let row else { return nil }
        let name = parts.count > 1 ? String(parts[1]) : ""
        let isName = !name.isEmpty && !name.hasPrefix("{")
        return "tombolo " + row.command.replacing("*", with: isName ? name : "ID")
    }
}
