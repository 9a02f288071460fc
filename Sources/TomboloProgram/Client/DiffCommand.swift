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
            let rows = changes.map { change in
                [change.pointer.description, text(change.before), text(change.after)]
            }
            try context.terminal.write(TextTable(["POINTER", "BEFORE", "AFTER"], rows))
        case .json: try context.terminal.write(document(id, before, after, changes) + [10])
        case .jsonl:
            for change in changes {
                let json = JSON.object { change.write(to: &$0) }
                try context.terminal.write(JSON.line(json.bytes) + [10])
            }
        }
        return .succeeded
    }

    private static func fetch(
        _ client: RelayClient, _ id: String, _ version: Int64
    ) async throws -> JSONView {
        let path = PathText.query(
            "/v1/activities/\(PathText.escaped(id))", [("at_version", String(version))])
        return try await client.view(path, name: id)
    }

    /// Returns the JSON text, so that the string "1" and the number 1 look different.
    private static func text(_ value: JSONView?) -> String {
        value.map { Printable.json($0.raw) } ?? ""
    }

    private static func document(
        _ id: String, _ before: JSONView, _ after: JSONView, _ changes: [StateDiff.Change]
    ) -> [UInt8] {
        let json = JSON.object { writer in
            writer.member("activity", id)
            for (name, view) in [("from", before), ("to", after)] {
                writer.object(name) { writer in
                    writer.member("version", view["version"]?.integer ?? 0)
                    if let moment = view["as_of"]?.string { writer.member("as_of", moment) }
                }
            }
            writer.objects("changes", changes) { $1.write(to: &$0) }
        }
        return JSON.line(json.bytes)
    }
}
