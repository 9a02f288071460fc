package import TomboloJSON

/// An App Intent that a button of a card or a widget runs: in `intents` of a type a name, or an
/// object with what the button says and what goes with the press.
package struct TypeIntent: Hashable, Sendable {
    package var name: String
    /// What the button says.
    package var title: String
    /// The parameters by name: a text that begins with `/` is a place in the state, any other value
    /// goes as it is. Nil: none.
    private var parameters: JSON?

    /// A card has few buttons.
    package static let countMax = 32
    /// A button says a few words, and an intent takes a few values.
    private static let nameBytes = 1...256
    private static let parametersMax = 16

    /// The parameters of a press on what shows `state`: a place that is not there is left out.
    package func parameters(in state: JSONView) -> JSON? {
        guard let parameters else { return nil }
        var writer = JSONWriter()
        writer.beginObject()
        for (name, value) in parameters.document.root.members {
            guard let text = value.string, text.hasPrefix("/") else {
                writer.member(name, value.json)
                continue
            }
            if let found = JSONPointer(text).flatMap({ state.at($0) }) {
                writer.member(name, found.json)
            }
        }
        writer.endObject()
        return writer.json
    }

    /// Reads `intents`; a fault is noted in the reader.
    ///
    /// - Parameter schema: of the state: a place that it does not describe is refused.
    static func reading(_ reader: inout FieldReader, _ schema: StateSchema?) -> [TypeIntent] {
        guard let list = reader.value("intents") else { return [] }
        guard list.kind == .array, list.count <= countMax else {
            reader.fail("intents", "must be an array of at most \(countMax) intents")
            return []
        }
        var intents: [TypeIntent] = []
        for (index, element) in list.elements.enumerated() {
            if let name = element.string {
                intents.append(TypeIntent(name: name, title: name))
                continue
            }
            guard element.kind == .object else {
                reader.fail(
                    "intents",
                    "must be names, or objects such as "
                        + #"{"name":"UnlockDoor","title":"Unlock","parameters":{"door":"/id"}}"#)
                continue
            }
            var inner = reader.inside(element, "intents").inside(element, "\(index)")
            if let intent = TypeIntent(reading: &inner, schema) { intents.append(intent) }
            do { try inner.finish() } catch { reader.adopt(error) }
        }
        return intents
    }

    private init(name: String, title: String) { (self.name, self.title) = (name, title) }

    private init?(reading reader: inout FieldReader, _ schema: StateSchema?) {
        let name = reader.string("name")
        if !Self.nameBytes.contains(name?.utf8.count ?? 0) {
            reader.fail("name", "is missing: the intent's name, of 1 to 256 bytes")
        }
        let title = reader.string("title")
        if let title, !Self.nameBytes.contains(title.utf8.count) {
            reader.fail("title", "must have 1 to 256 bytes")
        }
        if let view = reader.object("parameters") {
            parameters = view.json
            var inner = reader.inside(view, "parameters")
            if view.count > Self.parametersMax {
                reader.fail("parameters", "must have at most \(Self.parametersMax) members")
            }
            for (parameter, value) in view.members.prefix(Self.parametersMax) {
                guard let text = value.string, text.hasPrefix("/"),
                    let fault = StateSchema.fault(ofPointer: text, schema)
                else { continue }
                inner.fail(parameter, fault)
            }
            reader.adopt(FieldErrors(inner.errors))
        }
        guard let name else { return nil }
        (self.name, self.title) = (name, title ?? name)
    }
}
