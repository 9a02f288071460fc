import TomboloJSON

/// `activity diff`: compares the states of two past versions. This program does it, not the relay.
enum DiffCommand {
    static func run(_ context: CommandContext) async throws -> ExitStatus {
        let (id, range) = (context.invocation.arguments[0], context.invocation.arguments[1])
        let versions = range.split(separator: "..", omittingEmptySubsequences: false)
            .map { Int64($0) ?? 0 }
        guard let from = versions.first, let to = versions.last, versions.count == 2,
            versions.allSatisfy({ $0 > 0 })
        else {
            throw ProgramError.usage(
                "\(range) is not two versions", remedy: "tombolo activity diff \(id) 3..7")
        }
        let client = try await RelayClient.connect(context)
        defer { client.close() }
        let before = try await fetch(client, id, from)
        let after = try await fetch(client, id, to)
        guard let old = before["state"], let new = after["state"] else {
            throw ProgramError(
                "the answer has no state", remedy: "see that --relay names a Tombolo relay")
        }
        let changes = StateDiff(from: old, to: new).changes
        switch OutputFormat(context) {
        case .table:
            guard !changes.isEmpty else {
                try context.terminal.print("nothing changed in the state")
                return .succeeded
            }
            var table = TextTable(["POINTER", "BEFORE", "AFTER"])
            for change in changes {
                table.add([
                    change.pointer.description, change.before.map(Self.text) ?? "",
                    change.after.map(Self.text) ?? "",
                ])
            }
            try context.terminal.write(table.text(for: context.terminal).utf8)
        case .json: try context.terminal.write(document(id, before, after, changes) + [10])
        case .jsonl:
            for change in changes {
                var writer = JSONWriter()
                change.write(to: &writer)
                try context.terminal.write(JSON.line(writer.bytes) + [10])
            }
        }
        return .succeeded
    }

    private static func fetch(
        _ client: RelayClient, _ id: String, _ version: Int64
    ) async throws -> JSONView {
        let path = PathText.query(
            "/v1/activities/\(PathText.escaped(id))", [("at_version", String(version))])
        return try await client.send(RelayRequest("GET", path), name: id).document().root
    }

    /// Returns the JSON text, so that the string "1" and the number 1 look different.
    private static func text(_ value: JSONView) -> String { Printable.json(value.raw) }

    private static func document(
        _ id: String, _ before: JSONView, _ after: JSONView, _ changes: [StateDiff.Change]
    ) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("activity", id)
        for (name, view) in [("from", before), ("to", after)] {
            writer.name(name)
            writer.beginObject()
            writer.member("version", view["version"]?.integer ?? 0)
            if let moment = view["as_of"]?.string { writer.member("as_of", moment) }
            writer.endObject()
        }
        writer.name("changes")
        writer.beginArray()
        for change in changes { change.write(to: &writer) }
        writer.endArray()
        writer.endObject()
        return JSON.line(writer.bytes)
    }
}
