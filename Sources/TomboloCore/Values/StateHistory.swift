package import TomboloJSON

/// How the states of a type keep a history: `history` of a type. The newest line is first.
///
/// The rule is written into the stored body of each event of that type, so that the log alone gives
/// the state.
///
///     {"path":"/history","length":20,"of":"/event","at":"/at"}
package struct StateHistory: Hashable, Sendable {
    /// The list in the state. Only the relay writes it.
    package var path: JSONPointer
    /// Lines of the list, at most: 1 to `lengthMax`.
    package var length: Int
    /// The part of the state that a line contains. Each event with a value for that part adds a
    /// line, even if the value is the same as before.
    package var of: JSONPointer
    /// Where in a line, which is an object then, the relay writes the event's time; nil: nowhere.
    package var at: JSONPointer?

    /// Lines, at most: all of them are pushed.
    static let lengthMax: Int64 = 256
    static let lengthDefault = 20

    // MARK: In the body of an event

    /// Where the rule is in an event's body.
    static let member = JSONPointer(tokens: ["history"])

    var json: JSON {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("path", path.description)
        writer.member("length", Int64(length))
        writer.member("of", of.description)
        if let at { writer.member("at", at.description) }
        writer.endObject()
        return writer.json
    }

    // MARK: Folding

    /// The state after an event, with the lines of the state before and the event's own.
    ///
    /// - Parameters:
    ///   - before: nil if the activity has just begun.
    ///   - isSaid: whether the event has a value for the part that lines contain.
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
        writer.beginArray()
        for line in lines { writer.raw(line) }
        writer.endArray()
        return state.setting(path, to: writer.json) ?? state
    }
}

extension StateHistory {
    /// Nil if the body has no rule.
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
