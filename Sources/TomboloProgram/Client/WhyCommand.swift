import Glibc
import TomboloCore
import TomboloJSON

/// `why`: shows what happened to a version of an activity on a phone, according to the log.
enum WhyCommand {
    static func run(_ context: CommandContext) async throws -> ExitStatus {
        let invocation = context.invocation
        let asked = [
            invocation.text(.whyToken), invocation.text(.whyPush), invocation.text(.ofUser),
        ].count { $0 != nil }
        let isNamed = invocation.argument(0) != nil
        guard asked + (isNamed ? 1 : 0) == 1 else {
            throw ProgramError.usage(
                "why takes an ACTIVITY, or one of --token, --apns-id and --user"
                    + (asked > 0 ? ", not both" : ""),
                remedy: "tombolo help why")
        }
        let request = isNamed ? try question(context) : try search(context)
        return try await context.present(request, name: invocation.argument(0)) { root in
            let all = root["explanations"] == nil ? [root] : root.items("explanations")
            let texts = all.map { WhyReport($0).text }
            try context.terminal.write(texts.joined(separator: "\n").utf8)
            if all.isEmpty { try context.terminal.print("nothing is on record") }
        }
    }

    private static func question(_ context: CommandContext) throws(ProgramError) -> RelayRequest {
        let invocation = context.invocation
        let activity = invocation.argument(0) ?? ""
        if let kind = WidgetCommands.kind(activity) { return try question(kind, context) }
        var device = invocation.argument(1)
        var moment = try invocation.argument(2).map { text throws(ProgramError) in
            try Moment(text, at: time(nil))
        }
        // The second argument may be a device, or a version or a time.
        if moment == nil, let text = device, let found = try? Moment(text, at: time(nil)) {
            (device, moment) = (nil, found)
        }
        return RelayRequest(
            "GET",
            PathText.query(
                "/v1/activities/\(PathText.escaped(activity))/explain",
                [("device", device), ("version", moment?.version), ("at", moment?.time)]))
    }

    private static func question(
        _ kind: String, _ context: CommandContext
    ) throws(ProgramError) -> RelayRequest {
        guard let device = context.invocation.argument(1), context.invocation.argument(2) == nil
        else {
            throw ProgramError.usage(
                "why widget:KIND takes the DEVICE, and no version",
                remedy: "tombolo why widget:\(kind) phone-1")
        }
        return RelayRequest(
            "GET",
            PathText.query(
                "/v1/timelines/\(PathText.escaped(kind))/explain",
                [("device", device), ("config", context.invocation.text(.widgetConfig))]))
    }

    /// Makes the request for a search by token, push or user. These values are in the body, not in
    /// the URL, because URLs are logged.
    private static func search(_ context: CommandContext) throws(ProgramError) -> RelayRequest {
        let invocation = context.invocation
        let body = try JSON.object { (writer) throws(ProgramError) in
            if let token = invocation.text(.whyToken) {
                guard token == "-" else {
                    throw ProgramError.usage(
                        "--token takes -, and reads the token from stdin: a command line is seen by "
                            + "everybody on this machine",
                        remedy: "tombolo why --token - <token.txt")
                }
                writer.member("token", try tokenOfInput())
            }
            if let push = invocation.text(.whyPush) {
                guard APNsID(text: push) != nil else {
                    throw ProgramError.usage(
                        "--apns-id \(push) is not a UUID",
                        remedy: "tombolo delivery ls -o json, whose push.apns_id it is")
                }
                writer.member("apns_id", push)
            }
            if let user = invocation.text(.ofUser) { writer.member("user", user) }
        }.bytes
        return RelayRequest("POST", "/v1/explain", body: body)
    }

    private static func tokenOfInput() throws(ProgramError) -> String {
        let text = String(decoding: try StateInput.stdin(atMost: 4_096), as: UTF8.self)
        return String(text.prefix { !$0.isWhitespace })
    }

    /// A past moment: a version, or a time.
    struct Moment: Hashable {
        private(set) var version: String?
        private(set) var time: String?

        /// - Parameter now: Unix seconds. A time such as `14:02` means the last such minute (UTC),
        ///   up to its end or up to now.
        init(
            _ text: String, at now: Int, like example: String = "tombolo why cat-7 phone-1"
        ) throws(ProgramError) {
            // Answers write versions as `v3`, so accept this form too.
            if let number = Int64(text.first == "v" ? String(text.dropFirst()) : text), number > 0 {
                version = String(number)
                return
            }
            if let instant = Instant(nearest: text) {
                time = instant.rfc3339
                return
            }
            let parts = text.split(separator: ":", omittingEmptySubsequences: false)
            let numbers = parts.compactMap { $0.utf8.count == 2 ? Int($0) : nil }
            guard (2...3).contains(parts.count), numbers.count == parts.count,
                (0...23).contains(numbers[0]), numbers.dropFirst().allSatisfy({ (0...59) ~= $0 })
            else {
                throw .usage(
                    "\(text) is neither a version nor a time",
                    remedy: "\(example) 14:02 (by UTC), or 2026-11-20T14:02:00Z")
            }
            var seconds = now / 86_400 * 86_400 + numbers[0] * 3_600 + numbers[1] * 60
            if numbers.count == 3 { seconds += numbers[2] }
            if seconds > now { seconds -= 86_400 }
            if numbers.count == 2 { seconds = min(seconds + 59, now) }
            time = (Instant(seconds: Int64(seconds)) + .milliseconds(999)).rfc3339
        }
    }
}

/// Prints one explanation, for people.
struct WhyReport {
    private let view: JSONView

    init(_ view: JSONView) { self.view = view }

    var text: String {
        var lines = [string("question"), "", string("answer"), ""]
        let because = view.items("because")
        if !because.isEmpty {
            lines += ["What is on record:"] + because.map { "  \(statement($0))" } + [""]
        }
        let suspects = view.items("suspects")
        if !suspects.isEmpty {
            lines.append("What is suspected, the most likely first:")
            for (index, suspect) in suspects.enumerated() {
                lines.append("  \(index + 1). \(statement(suspect))")
                for (member, label) in [("for", "for it"), ("against", "against it")] {
                    lines += suspect.texts("speaks_\(member)").map { "       \(label): \($0)" }
                }
            }
            lines.append("")
        }
        for surface in view.items("surfaces") {
            let config = surface["config"]?.string.map { " (\($0))" } ?? ""
            lines.append("\(surface["surface"]?.string ?? "")\(config):")
            lines.append("  \(surface["answer"]?.string ?? "")")
            lines += surface.items("because").map { "    \(statement($0))" } + [""]
        }
        let commands = view.texts("try")
        if !commands.isEmpty { lines += ["Next:"] + commands.map { "  \($0)" } }
        return lines.map { Printable.line($0) }.joined(separator: "\n") + "\n"
    }

    private func string(_ name: String) -> String { view[name]?.string ?? "" }

    private func statement(_ view: JSONView) -> String {
        "[\(view["code"]?.string ?? "")]  \(view["text"]?.string ?? "")"
    }
}
