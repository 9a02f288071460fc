import TomboloCore
package import TomboloJSON

extension EventLine {
    /// Maximum number of a CloudEvent's members and extensions: as for fields of HTTP heads.
    package static let attributesMax = 64

    /// The attributes that are read.
    package static let attributes = ["specversion", "id", "source", "type", "subject"]

    /// `data` may be as deep as the body of a single request; the event around it adds one level.
    package static let cloudEventLimits = JSONLimits(
        depthMax: JSONLimits.receivedDepthMax + 1, numbersFit: true)

    /// Reads one element of a batch of CloudEvents. Throws its fault.
    package init(cloudEvent bytes: [UInt8]) throws(Fault) {
        let document: JSONDocument
        do {
            document = try JSONDocument(bytes, limits: Self.cloudEventLimits)
        } catch {
            throw Fault(id: nil, problem: Problem(inLine: error))
        }
        try self.init(cloudEvent: document)
    }

    /// Reads an event of CloudEvents 1.0 in JSON format. `type` is `tombolo.` and the verb,
    /// `subject` is the activity, and `data` is the body of the single request.
    ///
    /// Other attributes (`time`, `dataschema` and extensions) are not read, nor is what describes
    /// data in a form that the event does not have. An optional attribute may be `null` (JSON
    /// format, section 2.2).
    package init(cloudEvent document: JSONDocument) throws(Fault) {
        let id = document.root["id"]?.string
        do {
            try self.init(attributes: document.root)
        } catch {
            throw Fault(id: id, problem: Problem(error), activity: document.root["subject"])
        }
    }

    private init(attributes view: JSONView) throws(FieldErrors) {
        var reader = FieldReader(view)
        guard view.count <= Self.attributesMax else {
            let message = "has more than \(Self.attributesMax) attributes; leave extensions out"
            throw FieldErrors([FieldError(pointer: "", message: message)])
        }
        if let version = reader.attribute("specversion", "\"1.0\""), version != "1.0" {
            reader.fail("specversion", "must be \"1.0\": other versions are not read here")
        }
        let id = reader.attribute("id", "your id of the event; with source it is its key")
        let source = reader.attribute("source", "a URI of what makes the events")
        let kinds = EventKind.allCases.map { ("tombolo." + $0.name, $0) }
        let words = kinds.map(\.0).joined(separator: ", ")
        let type = reader.attribute("type", "one of \(words)")
        let kind = kinds.first { $0.0 == type }?.1
        if let type, kind == nil {
            let near = nearestName(to: type, among: kinds.map(\.0))
            let hint = near.map { "; did you mean \"\($0)\"?" } ?? ""
            reader.fail("type", "must be one of \(words)\(hint)")
        }
        let activity =
            reader.attribute("subject", "the activity's id") == nil
            ? nil : reader.identifier("subject")
        if activity == Identifier.reserved, kind == .start {
            reader.fail("subject", "must be another id: no activity can have this one")
        }
        func optional(_ name: String) -> JSONView? { view[name].flatMap { $0.isNull ? nil : $0 } }
        let given = optional("data")
        if let given, given.kind != .object, let type = optional("datacontenttype"),
            !Self.isJSON(type.string ?? "")
        {
            reader.fail("datacontenttype", "must be application/json: data is the body of a call")
        }
        if given == nil, optional("data_base64") != nil {
            reader.fail("data_base64", "is not read here: send the body in data, as a JSON object")
        }
        try reader.finish(allowingUnknown: true)
        guard let id, let source, let kind, let activity else {
            throw FieldErrors([FieldError(pointer: "", message: "is incomplete")])
        }
        let data = (view["data"]?.json ?? .emptyObject).document
        do {
            (content, body) = try Command.Content.reading(kind, data)
        } catch {
            throw FieldErrors(
                error.errors.map { FieldError(pointer: "/data" + $0.pointer, message: $0.message) })
        }
        (self.id, self.source, self.activity, sent) = (id, source, activity, data.bytes)
    }

    /// True if the media type, without its parameters, is JSON (RFC 6839, section 3.1).
    package static func isJSON(_ mediaType: String) -> Bool {
        let essence = mediaType.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }
            .lowercased()
        return essence == "application/json" || essence == "text/json"
            || (essence.hasPrefix("application/") && essence.hasSuffix("+json"))
    }
}

extension FieldReader {
    /// Reads a required attribute of a CloudEvent, which must be text without control characters
    /// (CloudEvents 1.0, section 2.4, *String*).
    fileprivate mutating func attribute(_ name: String, _ meaning: String) -> String? {
        guard let value = value(name) else {
            fail(name, "is missing: \(meaning)")
            return nil
        }
        guard let text = value.string, !text.isEmpty,
            text.unicodeScalars.allSatisfy({
                !(0x00...0x1f).contains($0.value) && !(0x7f...0x9f).contains($0.value)
            })
        else {
            fail(name, "must be a text that is not empty, without control characters")
            return nil
        }
        return text
    }
}
