import Glibc
import TomboloCore
import TomboloJSON

/// Commands that query the relay and print the answer, such as `log`, `activity` and `device`.
enum ReadCommands {
    static func activityShow(_ context: CommandContext) async throws -> ExitStatus {
        let id = context.invocation.arguments[0]
        let moment = try context.invocation.text(.asItWas).map { text throws(ProgramError) in
            try WhyCommand.Moment(
                text, at: time(nil), like: "tombolo activity show \(id) --at")
        }
        let path = PathText.query(
            "/v1/activities/\(PathText.escaped(id))",
            [("at", moment?.time), ("at_version", moment?.version)])
        let answer = try await get(context, path, name: id)
        guard OutputFormat(context) == .table else {
            try context.terminal.write(answer.line)
            return .succeeded
        }
        try context.terminal.write(
            ActivityReport(try answer.document().root).text(for: context.terminal).utf8)
        return .succeeded
    }

    static func deviceShow(_ context: CommandContext) async throws -> ExitStatus {
        let id = context.invocation.arguments[0]
        return try await showMembers(context, "/v1/devices/\(PathText.escaped(id))", name: id)
    }

    static func deviceList(_ context: CommandContext) async throws -> ExitStatus {
        try await list(
            context, "/v1/devices", rows: "devices",
            columns: [
                "device", "user", "app", "environment", "os",
                Column("CLASS", "class", "budget_class"), Column("PRESENCE", "presence.state"),
            ])
    }

    static func typeList(_ context: CommandContext) async throws -> ExitStatus {
        try await list(
            context, "/v1/types", rows: "types",
            columns: ["type", "app"])
    }

    static func logShow(_ context: CommandContext) async throws -> ExitStatus {
        let seq = context.invocation.arguments[0]
        return try await showMembers(context, "/v1/log/\(seq)", name: seq)
    }

    static func activityList(_ context: CommandContext) async throws -> ExitStatus {
        let invocation = context.invocation
        let path = PathText.query(
            "/v1/activities",
            [("status", invocation.text(.status)), ("type", invocation.text(.onlyType))])
        return try await list(
            context, path, rows: "activities",
            columns: ["activity", "type", "status", "version", "seq"])
    }

    static func logList(_ context: CommandContext) async throws -> ExitStatus {
        let invocation = context.invocation
        let path = PathText.query(
            "/v1/log",
            [
                ("activity", invocation.text(.ofActivity)), ("kind", invocation.text(.kind)),
                ("do", invocation.text(.onlyDo)), ("from", invocation.text(.from)),
                ("until", invocation.text(.until)), ("since", invocation.text(.since)),
            ])
        let key = invocation.text(.byKey)
        return try await list(
            context, path, rows: "events",
            keeping: key.map { key in
                { ($0["by"] ?? $0["body"]?["by"])?.string == key }
            },
            columns: [
                "seq", "recorded_at", Column("WHAT", "do", "fact"), "activity", "version",
                Column("DEVICE", "body.device"), Column("BY", "by", "body.by"),
            ])
    }

    static func deadList(_ context: CommandContext) async throws -> ExitStatus {
        let invocation = context.invocation
        let path = PathText.query(
            "/v1/dead-letters",
            [
                ("activity", invocation.text(.ofActivity)),
                ("device", invocation.text(.ofDevice)), ("reason", invocation.text(.reason)),
            ])
        return try await list(
            context, path, rows: "dead_letters",
            columns: ["id", "at", "activity", "device", "do", "version", "status", "reason"])
    }

    static func eraseActivity(_ context: CommandContext) async throws -> ExitStatus {
        try await erase(context, "activities")
    }

    static func eraseDevice(_ context: CommandContext) async throws -> ExitStatus {
        try await erase(context, "devices")
    }

    private static func erase(
        _ context: CommandContext, _ kind: String
    ) async throws -> ExitStatus {
        let id = context.invocation.arguments[0]
        let path = "/v1/\(kind)/\(PathText.escaped(id))/erase"
        return try await show(context, .write(context, "POST", path), name: id)
    }

    // MARK: One row

    private static func get(
        _ context: CommandContext, _ path: String, name: String
    ) async throws -> RelayAnswer {
        let client = try await RelayClient.connect(context)
        defer { client.close() }
        return try await client.send(RelayRequest("GET", path), name: name)
    }

    /// Shows an object: as JSON, or one member a line for people.
    private static func showMembers(
        _ context: CommandContext, _ path: String, name: String
    ) async throws -> ExitStatus {
        try await show(context, RelayRequest("GET", path), name: name)
    }

    /// Sends a request and shows the object in its answer.
    static func show(
        _ context: CommandContext, _ request: RelayRequest, name: String?
    ) async throws -> ExitStatus {
        let client = try await RelayClient.connect(context)
        defer { client.close() }
        let answer = try await client.send(request, name: name)
        guard OutputFormat(context) == .table else {
            try context.terminal.write(answer.line)
            return .succeeded
        }
        var table = TextTable(["FIELD", "VALUE"])
        let root = try answer.document().root
        for (name, value) in root.members where name != "lint" {
            table.add([name, Cell.text(value)])
        }
        try context.terminal.write(table.text(for: context.terminal).utf8)
        try showLints(context, root)
        return .succeeded
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
    ///   - isPaged: false if the whole list comes in one answer.
    ///   - isKept: selects the rows to show; nil means all.
    static func list(
        _ context: CommandContext, _ path: String, rows member: String, isPaged: Bool = true,
        keeping isKept: ((JSONView) -> Bool)? = nil, columns: [Column]
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
            let page = PathText.query(path, [("limit", limit), ("cursor", cursor)])
            let root = try await client.send(RelayRequest("GET", page), name: nil).document().root
            let all = root[member].map { Array($0.elements) } ?? []
            let found = all.filter { isKept?($0) ?? true }.prefix(left).map(\.json)
            left -= found.count
            for damage in root["damaged"].map({ Array($0.elements) }) ?? [] {
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
        case .table: try printTable(context.terminal, columns, rows)
        }
        return isDamaged ? .partly : .succeeded
    }

    /// Maximum number of rows that one page is asked for.
    private static let pageMax = 1_000

    private static func printDocument(
        _ terminal: Terminal, _ member: String, _ rows: [JSON], _ cursor: String?
    ) throws(ProgramError) {
        var writer = JSONWriter()
        writer.beginObject()
        writer.name(member)
        writer.beginArray()
        for row in rows { writer.raw(row) }
        writer.endArray()
        writer.name("next_cursor")
        if let cursor { writer.string(cursor) } else { writer.null() }
        writer.endObject()
        try terminal.write(writer.bytes + [10])
    }

    private static func printTable(
        _ terminal: Terminal, _ columns: [Column], _ rows: [JSON]
    ) throws(ProgramError) {
        var table = TextTable(columns.map(\.title))
        for row in rows {
            let view = row.document.root
            table.add(columns.map { $0.text(of: view) })
        }
        try terminal.write(table.text(for: terminal).utf8)
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
        self.title = title
        self.members = members
        self.none = none
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
            if let view { return view.isNull ? none : Cell.text(view) }
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
