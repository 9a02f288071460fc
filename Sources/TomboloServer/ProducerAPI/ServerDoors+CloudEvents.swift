import TomboloAPI
import TomboloCore
import TomboloCrypto
import TomboloHTTP
import TomboloJSON

extension ServerDoors {
    /// Handles one CloudEvent, and answers like the single request of its verb.
    func appendCloudEvent(
        _ request: DoorRequest, _ form: EventForm
    ) async throws(Problem) -> DoorResponse {
        // Only check the flag: one event is atomic anyway.
        _ = try request.flag("atomic")
        let expectation = try request.expectation()
        let body = try await request.body(atMost: configuration.bodyBytesMax)
        let isData = form == .cloudEventData
        let text = isData ? try request.cloudEvent(around: body) : body
        let document: JSONDocument
        do { document = try JSONDocument(text, limits: EventLine.cloudEventLimits) } catch {
            throw Problem(error)
        }
        let event: EventLine
        do { event = try EventLine(cloudEvent: document) } catch {
            throw isData ? Self.problem(ofHead: error.problem) : error.problem
        }
        var command = BatchLine.command(event, request.tenant)
        command.expectation = expectation
        return try await submit(command, request)
    }

    /// The problem of an event whose attributes are header fields and whose data is the body.
    private static func problem(ofHead problem: Problem) -> Problem {
        guard let first = problem.errors.first else { return problem }
        let data = "/data"
        guard first.pointer == data || first.pointer.hasPrefix(data + "/") else {
            let end = first.message.hasSuffix("?") ? "" : "."
            return Problem(.invalidHeader, "ce-\(first.pointer.dropFirst()) \(first.message)\(end)")
        }
        return Problem(
            FieldErrors(
                problem.errors.map {
                    FieldError(
                        pointer: String($0.pointer.dropFirst(data.count)), message: $0.message)
                }))
    }
}

extension DoorRequest {
    /// The JSON format of an event in binary mode, so that the same parser reads both (CloudEvents
    /// HTTP binding 1.0.2, section 3.1).
    fileprivate func cloudEvent(around data: [UInt8]) throws(Problem) -> [UInt8] {
        var writer = JSONWriter(capacity: data.count + 512)
        writer.beginObject()
        var names: Set<String> = []
        for field in head.fields where field.name.hasPrefix("ce-") {
            let name = String(field.name.dropFirst(3))
            if ["data", "data_base64"].contains(name) {
                throw Problem(
                    .invalidHeader,
                    "\(field.name) is no field of an event whose data is the body: Content-Type "
                        + "says what the body is. Leave it away.")
            }
            guard EventLine.attributes.contains(name) else { continue }
            guard names.insert(name).inserted else {
                throw Problem(
                    .invalidHeader, "\(field.name) is given more than once. Give it once.")
            }
            guard let value = Self.attribute(field.value) else {
                throw Problem(
                    .invalidHeader,
                    "\(field.name) is not percent-encoded UTF-8. Write a percent sign as %25, and "
                        + "what is not ASCII as the bytes of its UTF-8, such as %C3%A9.")
            }
            writer.member(name, value)
        }
        if !data.isEmpty {
            writer.name("data")
            do { writer.raw(try JSON(validating: data, limits: .received)) } catch {
                throw Problem(error)
            }
        }
        writer.endObject()
        return writer.bytes
    }

    /// Decodes an attribute from a field's value (section 3.1.3.2): removes the quotes of older
    /// versions, then decodes percent signs once. Nil if the result is not UTF-8.
    static func attribute(_ value: String) -> String? {
        var rest = Array(value.utf8)[...]
        let quote = UInt8(ascii: "\"")
        let isQuoted = rest.count > 1 && rest.first == quote && rest.last == quote
        if isQuoted { rest = rest.dropFirst().dropLast() }
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            if isQuoted, byte == UInt8(ascii: "\\"), let escaped = rest.popFirst() {
                bytes.append(escaped)
            } else if byte == UInt8(ascii: "%") {
                guard let decoded = Hex.decode(String(decoding: rest.prefix(2), as: UTF8.self)),
                    decoded.count == 1
                else { return nil }
                bytes += decoded
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        // U+FFFD replaces bytes that were not UTF-8; a client would percent-encode the character.
        return value.contains("\u{FFFD}") ? nil : String(validating: bytes, as: UTF8.self)
    }
}
