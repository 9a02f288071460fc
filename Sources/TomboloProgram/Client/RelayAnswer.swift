import TomboloJSON

/// A request to a relay.
package struct RelayRequest: Sendable {
    package typealias Fields = [(name: String, value: String)]

    var method: String
    var path: String
    var fields: Fields
    var body: [UInt8]

    /// - Parameter path: the path, with its query.
    package init(_ method: String, _ path: String, fields: Fields = [], body: [UInt8] = []) {
        (self.method, self.path, self.fields, self.body) = (method, path, fields, body)
    }
}

extension RelayRequest {
    /// A request that changes something. With `--dry-run` it only reports what would happen.
    static func write(
        _ context: CommandContext, _ method: String, _ path: String, fields: Fields = [],
        body: [UInt8] = []
    ) -> RelayRequest {
        let tried = context.invocation.isGiven(.dryRun) ? "true" : nil
        return RelayRequest(
            method, PathText.query(path, [("dry_run", tried)]), fields: fields, body: body)
    }
}

/// A whole answer of the relay, of status 2xx.
package struct RelayAnswer: Sendable {
    let status: Int
    package let body: [UInt8]

    /// The body as one line, with a line break at its end.
    var line: [UInt8] { JSON.line(body.reversed().drop { $0 == 10 || $0 == 13 }.reversed()) + [10] }

    /// The body as JSON. Throws if it is not JSON, because then the other end is no relay.
    func document() throws(ProgramError) -> JSONDocument {
        do {
            return try JSONDocument(body)
        } catch {
            throw ProgramError(
                "the answer is not JSON: \(error.message)",
                remedy: "see that --relay names a Tombolo relay")
        }
    }
}
