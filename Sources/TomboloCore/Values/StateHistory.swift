package import TomboloJSON

/// How the states of a type keep a history of a value: `history` of a type. The newest line is
/// first. Each event's stored body contains this rule, so that the log alone gives the state.
///
///     {"path":"/history","length":20,"of":"/event","at":"/at"}
package struct StateHistory: Hashable, Sendable {
    /// Where the list is in the state. Only the relay writes it.
    package var path: JSONPointer
    /// Maximum number of lines, from 1 to `lengthMax`.
    package var length: Int
    /// Where the value is that becomes a line. Each event that sets this value adds a line, even if
    /// the value is the same as before.
    package var of: JSONPointer
    /// Where the relay writes the event's time into a line, if the line is an object; nil: nowhere.
    package var at: JSONPointer?

    /// Maximum of `length`. A push contains all lines.
    static let lengthMax: Int64 = 256
    static let lengthDefault = 20

    // MARK: In the body of an event

    /// Where an event's body has the rule.
    static let member = JSONPointer(tokens: ["history"])

    var json: JSON {
        JSON.object { writer in
            writer.member("path", path.description)
            writer.member("length", Int64(length))
            writer.member("of", of.description)
            if let at { writer.member("at", at.description) }
        }
    }

    // MARK: Folding

    /// The state after an event: with a line for the event, and the lines from before.
    ///
    /// - Parameters:
    ///   - before: the state before; nil if the activity has just begun.
    ///   - isSaid: true if the event sets the value that lines contain.
    func kept(in state: JSON, since before: JSON?, isSaid: Bool, at instant: Instant) -> JSON {
        var lines: [JSON] = []
        let view = state.document.root
        if isSaid, let value = view.at(of), !value.isNull {
            var line = value.json
            if let at, value.kind == .object {
                let time = JSON(unchecked: Array("\"\(instant.rfc3339)\"".utf8))
                line = line.setting(at, to: time) ?? line
            }
            lines.append(line)
        }
        if let known = before?.document.root.at(path), known.kind == .array {
            lines += known.elements.prefix(length - lines.count).map(\.json)
        }
        var writer = JSONWriter()
        writer.array(of: lines) { $0.raw($1) }
        return state.setting(path, to: writer.json) ?? state
    }
}

extension StateHistory {
    /// Returns nil if the body has no valid rule.
    init?(inBody view: JSONView) {
        guard let rule = view["history"], rule.kind == .object,
            let path = rule["path"]?.string.flatMap(JSONPointer.init),
            let of = rule["of"]?.string.flatMap(JSONPointer.init),
            let length = rule["length"]?.integer, (1...Self.lengthMax).contains(length)
        else { return nil }
        self.init(
            path: path, length: Int(length), of: of,
            at: rule["at"]?.string.flatMap(JSONPointer.init))
    }
}
