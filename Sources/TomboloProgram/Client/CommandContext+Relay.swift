import TomboloJSON

// One question to the relay, and its answer on stdout.

extension CommandContext {
    /// True if the result is printed for people, false if it is printed as JSON.
    package var printsTable: Bool { OutputFormat(self) == .table }

    /// Sends one request to the relay that `--relay` names. The remedy of an error contains `name`.
    func reply(to request: RelayRequest, name: String?) async throws -> RelayAnswer {
        let client = try await RelayClient.connect(self)
        defer { client.close() }
        return try await client.send(request, name: name)
    }

    /// Prints an answer: for people by `table`, else as the JSON that came.
    func present(_ answer: RelayAnswer, _ table: (JSONView) throws -> Void) throws {
        guard printsTable else { return try terminal.write(answer.line) }
        try table(try answer.document().root)
    }

    /// Sends one request and prints its answer.
    func present(
        _ request: RelayRequest, name: String?, _ table: (JSONView) throws -> Void
    ) async throws -> ExitStatus {
        try present(try await reply(to: request, name: name), table)
        return .succeeded
    }
}

extension JSONView {
    /// The elements of the member with this name; empty if it is no array.
    func items(_ name: String) -> [JSONView] { self[name].map { Array($0.elements) } ?? [] }

    /// The strings of the member with this name; empty if it is no array.
    func texts(_ name: String) -> [String] { items(name).compactMap(\.string) }
}
