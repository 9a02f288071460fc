import Glibc
import TomboloCore
import TomboloJSON

/// Commands that query the relay and print the answer, such as `log`, `activity` and `device`.
enum ReadCommands {
    static func activityShow(_ context: CommandContext) async throws -> ExitStatus {
        let id = context.invocation.arguments[0]
        let moment = try context.invocation.text(.asItWas).map { text throws(ProgramError) in
            try WhyCommand.Moment(text, at: time(nil), like: "tombolo activity show \(id) --at")
        }
        let path = PathText.query(
            "/v1/activities/\(PathText.escaped(id))",
            [("at", moment?.time), ("at_version", moment?.version)])
        return try await context.present(RelayRequest("GET", path), name: id) {
            try context.terminal.write(ActivityReport($0).text(for: context.terminal).utf8)
        }
    }

    static func deviceShow(_ context: CommandContext) async throws -> ExitStatus {
        let id = context.invocation.arguments[0]
        let path = "/v1/devices/\(PathText.escaped(id))"
        return try await show(context, RelayRequest("GET", path), name: id)
    }

    static func deviceList(_ context: CommandContext) async throws -> ExitStatus {
        try await list(
            context, "/v1/devices",
            filters: [
                ("user", .onlyUser), ("app", .onlyApp), ("os", .onlySystem),
                ("silent_for", .silentFor),
            ], rows: "devices",
            columns: [
                "device", "user", "app", "environment", "os",
                Column("CLASS", "class", "budget_class"), Column("PRESENCE", "presence.state"),
                Column("LAST SEEN", "last_seen"),
            ])
    }

    static func typeList(_ context: CommandContext) async throws -> ExitStatus {
        try await list(context, "/v1/types", rows: "types", columns: ["type", "app"])
    }

    static func logShow(_ context: CommandContext) async throws -> ExitStatus {
        let seq = context.invocation.arguments[0]
        return try await show(context, RelayRequest("GET", "/v1/log/\(seq)"), name: seq)
    }

    static func activityList(_ context: CommandContext) async throws -> ExitStatus {
        try await list(
            context, "/v1/activities", filters: [("status", .status), ("type", .onlyType)],
            rows: "activities",
            columns: ["activity", "type", "status", "version", "seq"])
    }

    static func logList(_ context: CommandContext) async throws -> ExitStatus {
        let key = context.invocation.text(.byKey)
        return try await list(
            context, "/v1/log",
            filters: [
                ("activity", .ofActivity), ("kind", .kind), ("do", .onlyDo), ("from", .from),
                ("until", .until), ("since", .since),
            ], rows: "events",
            keeping: key.map { key in
                { ($0["by"] ?? $0["body"]?["by"])?.string == key }
            },
            columns: [
                "seq", "recorded_at", Column("WHAT", "do", "fact"), "activity", "version",
                Column("DEVICE", "body.device"), Column("BY", "by", "body.by"),
            ])
    }

    static func deadList(_ context: CommandContext) async throws -> ExitStatus {
        try await list(
            context, "/v1/dead-letters",
            filters: [("activity", .ofActivity), ("device", .ofDevice), ("reason", .reason)],
            rows: "dead_letters",
            columns: ["id", "at", "activity", "device", "do", "version", "status", "reason"])
    }

    static func requests(_ context: CommandContext) async throws -> ExitStatus {
        try await list(
            context, "/v1/requests",
            filters: [("kind", .requestKind), ("code", .code), ("activity", .ofActivity)],
            rows: "requests",
            columns: [
                "at", Column("REQUEST", "operation", "method"), "status",
                Column("CODE", "code", "lines.0.code"),
                Column("ACTIVITY", "activity", "lines.0.activity"),
                Column("KEY", "key_name", "key"), Column("FROM", "address"),
                Column("TOOK MS", "took_ms"), Column("LINES", "lines_refused"),
                Column("WHY", "detail", "lines.0.detail"),
            ])
    }

    static func searchAll(_ context: CommandContext) async throws -> ExitStatus {
        let path = PathText.query("/v1/search", [("q", context.invocation.arguments[0])])
        return try await context.present(RelayRequest("GET", path), name: nil) { root in
            let columns: [Column] = [
                "kind", "id", Column("STATUS", "status", "result"), "type", "user", "app",
                "activity", "device",
            ]
            try context.terminal.write(TextTable(columns, root.items("results")))
            if root["is_whole"]?.bool == false {
                context.terminal.complain(
                    "tombolo: more of a kind begins with this text; give more of the id\n")
            }
        }
    }

    static func erase(
        _ context: CommandContext, _ kind: String
    ) async throws -> ExitStatus {
        let id = context.invocation.arguments[0]
        let path = "/v1/\(kind)/\(PathText.escaped(id))/erase"
        return try await show(context, .write(context, "POST", path), name: id)
    }

    // MARK: One row

    /// Sends a request and shows the object in its answer: as JSON, or one member a line.
    static func show(
        _ context: CommandContext, _ request: RelayRequest, name: String?
    ) async throws -> ExitStatus {
        try await context.present(request, name: name) { root in
            try context.terminal.write(TextTable(of: root, without: "lint"))
            try showLints(context, root)
        }
    }

    /// Prints each lint on a line of its own, because a cell would cut it.
    static func showLints(_ context: CommandContext, _ root: JSONView) throws {
        let lints = ChangeReport.lints(root).drop { $0 == "\n" }
        if !lints.isEmpty { try context.terminal.show(lints + "\n") }
    }

    // MARK: Many rows

    /// Lists rows page after page, up to `--limit`. Lines are printed as pages arrive; a table or
    /// one JSON document is printed after all pages.
    ///
    /// - Parameters:
    ///   - filters: the parameters of the query that flags give.
    ///   - isPaged: false if the whole list comes in one answer.
    ///   - isKept: selects the rows to show; nil means all.
    static func list(
        _ context: CommandContext, _ path: String, filters: [(name: String, flag: Flag)] = [],
        rows member: String, isPaged: Bool = true, keeping isKept: ((JSONView) -> Bool)? = nil,
        columns: [Column]
    ) async throws -> ExitStatus {
        let client = try await RelayClient.connect(context)
        defer { client.close() }
        let format = OutputFormat(context, elsewhere: .jsonl)
        var left = context.invocation.integer(.limit) ?? Int.max
        var cursor: String?
        var rows: [JSON] = []
        var isDamaged = false
        repeat {
            let limit = isPaged ? String(isKept == nil ? min(left, pageMax) : pageMax) : nil
            let page = PathText.query(
                path, context.invocation.values(filters) + [("limit", limit), ("cursor", cursor)])
            let root = try await client.view(page, name: nil)
            let all = root.items(member)
            let found = all.filter { isKept?($0) ?? true }.prefix(left).map(\.json)
            left -= found.count
            for damage in root.items("damaged") {
                isDamaged = true
                context.terminal.complain("tombolo: \(damage["detail"]?.string ?? "damaged")\n")
            }
            if let count = root["left_out"]?.integer {
                context.terminal.complain(
                    "tombolo: \(count) lines of this time were left out of the history: the tenant "
                        + "had used up its part\n")
            }
            if format == .jsonl {
                try context.terminal.write(found.flatMap { JSON.line($0.bytes) + [10] })
            } else {
                rows += found
            }
            cursor = root["next_cursor"]?.string
        } while cursor != nil && left > 0
        switch format {
        case .jsonl: break
        case .json: try printDocument(context.terminal, member, rows, cursor)
        case .table: try context.terminal.write(TextTable(columns, rows.map(\.document.root)))
        }
        return isDamaged ? .partly : .succeeded
    }

    /// Maximum number of rows that one page is asked for.
    private static let pageMax = 1_000

    private static func printDocument(
        _ terminal: Terminal, _ member: String, _ rows: [JSON], _ cursor: String?
    ) throws(ProgramError) {
        try terminal.printObject { writer in
            writer.array(member, of: rows) { $0.raw($1) }
            writer.member("next_cursor", cursor.map(JSON.string) ?? .null)
        }
    }
}

/// A column of a list's table.
struct Column: ExpressibleByStringLiteral, Sendable {
    let title: String
    /// Names of members; the first one that a row has is shown. `a.b` is the member `b` of `a`, and
    /// `a.0` the first element of `a`.
    private let members: [String]
    /// The text for null or a missing member.
    private let none: String

    init(_ title: String, _ members: String..., none: String = "") {
        (self.title, self.members, self.none) = (title, members, none)
    }

    /// A column for one member, with the member's name as title.
    init(stringLiteral member: String) { self.init(member.uppercased(), member) }

    func text(of row: JSONView) -> String {
        for member in members {
            var view: JSONView? = row
            for step in member.split(separator: ".") where view?.isNull == false {
                view =
                    Int(step).map { index in view?.elements.dropFirst(index).first { _ in true } }
                    ?? view?[String(step)]
            }
            guard let view else { continue }
            let texts = view.elements.compactMap(\.string)
            if view.count > 0, texts.count == view.count { return texts.joined(separator: ",") }
            return view.isNull ? none : Cell.text(view)
        }
        return ""
    }
}

/// A JSON value in a cell of a table.
enum Cell {
    static func text(_ value: JSONView) -> String {
        value.string ?? (value.isNull ? "" : Printable.json(value.raw))
    }
}
