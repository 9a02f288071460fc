package import TomboloJSON

/// An App Intent that a button on a card or a widget runs. In a type's `intents` it is a name, or
/// an object that also has the button's title and the intent's parameters.
package struct TypeIntent: Hashable, Sendable {
    package var name: String
    /// The text on the button.
    package var title: String
    /// The parameters by name; nil if there are none. A text that begins with `/` points to a value
    /// in the state; any other value is used as it is.
    private var parameters: JSON?

    /// Maximum number of a type's intents.
    package static let countMax = 32
    /// Limits for the bytes of a name or a title, and for the number of parameters.
    private static let nameBytes = 1...256
    private static let parametersMax = 16

    /// The parameters if the button is pressed while `state` is shown. A parameter whose value the
    /// state does not have is left out.
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

    /// Reads `intents`, and notes its faults in the reader.
    ///
    /// - Parameters:
    ///   - schema: the schema of the state. A pointer that it does not have is a fault.
    ///   - record: the body in a record, whose faults are ignored; nil for a request.
    static func reading(
        _ reader: inout FieldReader, _ schema: StateSchema?, of record: JSONView?
    ) -> [TypeIntent] {
        guard let record else { return reading(&reader, schema) }
        _ = reader.value("intents")
        var older = FieldReader(record, isOfLog: true)
        return reading(&older, schema)
    }

    private static func reading(
        _ reader: inout FieldReader, _ schema: StateSchema?
    ) -> [TypeIntent] {
        guard let list = reader.value("intents") else { return [] }
        guard list.kind == .array, list.count <= countMax else {
            reader.fail("intents", "must be an array of at most \(countMax) intents")
            return []
        }
        var intents: [TypeIntent] = []
        for (index, element) in list.elements.enumerated() {
            if let name = element.string {
                if !isLabel(name) { reader.fail("intents", "must be names of \(labelRule)") }
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

    private static let labelRule = "1 to 256 bytes, without control characters"

    private static func isLabel(_ text: String) -> Bool {
        nameBytes.contains(text.utf8.count) && text.contains { !$0.isWhitespace }
            && text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    }

    private init(name: String, title: String) { (self.name, self.title) = (name, title) }

    private init?(reading reader: inout FieldReader, _ schema: StateSchema?) {
        let hasName = reader.value("name") != nil
        let (name, title) = (reader.string("name"), reader.string("title"))
        if !hasName { reader.fail("name", "is missing: the intent's name") }
        for (member, text) in [("name", name), ("title", title)] {
            guard let text, !Self.isLabel(text) else { continue }
            reader.fail(member, "must have \(Self.labelRule)")
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
        if let view = reader.object("when") {
            var inner = reader.inside(view, "when")
            if let fault = StateSchema.fault(ofPointer: inner.string("at"), schema) {
                inner.fail("at", fault)
            }
            if inner.value("is") == nil { inner.fail("is", "is missing: the value at that place") }
            do { try inner.finish() } catch { reader.adopt(error) }
        }
        guard let name else { return nil }
        (self.name, self.title) = (name, title ?? name)
    }
}
