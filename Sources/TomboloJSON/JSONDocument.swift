/// A JSON text (RFC 8259) with its index. It is scanned once. It consists of the text's bytes and a
/// flat list of entries, the "tape"; there is no tree of objects.
///
/// A document is always valid: UTF-8, no duplicate names, no lone surrogates, exactly one value. A
/// value is converted only when a view reads it. A document never changes.
///
/// ```swift
/// let document = try JSONDocument(Array(#"{"lap":3}"#.utf8))
/// var writer = JSONWriter()
/// writer.beginObject()
/// writer.member("lap", (document.root["lap"]?.integer ?? 0) + 1)
/// writer.endObject()  // writer.bytes is {"lap":4}
/// ```
package struct JSONDocument: Sendable {
    /// The original text, including surrounding white space and comments.
    package let bytes: [UInt8]

    let tape: [JSONEntry]

    /// True if comments are allowed between values.
    let comments: Bool

    /// Scans `bytes` once, in linear time. (For an object with more than 16 members, the comparison
    /// of names takes n log n.) A byte order mark is refused, as RFC 8259 section 8.1 allows.
    ///
    /// - Parameters:
    ///   - limits: limits for size and depth.
    ///   - comments: true if `//` and `/* */` count as white space. Only for files that people
    /// write, such as the configuration, never for input from the network. Trailing commas are a
    /// fault.
    /// - Throws: the first fault. A duplicate name is reported at the end of its object, so another
    ///   fault in the object comes first.
    package init(
        _ bytes: [UInt8], limits: JSONLimits = JSONLimits(), comments: Bool = false
    ) throws(JSONError) {
        try self.init(
            bytes, depthMax: limits.depthMax, bytesMax: limits.bytesMax,
            numbersFit: limits.numbersFit, comments: comments)
    }

    /// Scans with any depth, which `JSON.document` needs after a merge.
    init(
        _ bytes: [UInt8], depthMax: Int, bytesMax: Int, numbersFit: Bool, comments: Bool
    ) throws(JSONError) {
        self.bytes = bytes
        self.comments = comments
        self.tape = try bytes.withUnsafeBufferPointer { text throws(JSONError) in
            guard text.count <= bytesMax else {
                throw JSONError(
                    .tooLong, at: bytesMax, in: text,
                    "the text has \(text.count) bytes, \(bytesMax) are allowed: send less at once")
            }
            var failure: JSONError?
            let tape = [JSONEntry](
                unsafeUninitializedCapacity: JSONTape.capacity(for: text)
            ) { entries, count in
                var scanner = JSONScanner(
                    text, entries, depthMax: depthMax, numbersFit: numbersFit, comments: comments)
                do throws(JSONError) { try scanner.scan() } catch { failure = error }
                count = scanner.tape.count
            }
            if let failure { throw failure }
            return tape
        }
    }

    /// A text whose tape is known.
    init(_ bytes: [UInt8], tape: [JSONEntry]) {
        (self.bytes, self.tape, comments) = (bytes, tape, false)
    }

    /// The text's one value.
    package var root: JSONView { JSONView(document: self, index: 0) }
}
