/// A JSON text (RFC 8259) and an index over it: scanned once, held as the producer's bytes and a
/// flat tape, no tree of objects.
///
/// A document is always valid: UTF-8, no name twice in an object, no lone surrogate, one value. It
/// converts nothing until a view is asked, and never changes.
///
/// ```swift
/// let document = try JSONDocument(Array(#"{"lap":3}"#.utf8))
/// var writer = JSONWriter()
/// writer.beginObject()
/// writer.member("lap", (document.root["lap"]?.integer ?? 0) + 1)
/// writer.endObject()  // writer.bytes is {"lap":4}
/// ```
package struct JSONDocument: Sendable {
    /// The text as it came, surrounding space and comments included.
    package let bytes: [UInt8]

    let tape: [JSONEntry]

    /// Whether there may be comments between the values.
    let comments: Bool

    /// Scans `bytes` in one pass, in time linear in their number (objects of more than 16 members:
    /// n log n for the comparison of their names).
    ///
    /// A byte order mark is refused, as RFC 8259 section 8.1 allows.
    ///
    /// - Parameters:
    ///   - limits: what is refused for its size.
    ///   - comments: whether `//` and `/* */` count as space. For files that people write (the
    ///     configuration); never for what comes from the network. Trailing commas stay refused.
    /// - Throws: the first fault found. A name that an object has twice is reported when the object
    ///   ends, so a fault of another kind inside the object comes first.
    package init(
        _ bytes: [UInt8], limits: JSONLimits = JSONLimits(), comments: Bool = false
    ) throws(JSONError) {
        try self.init(
            bytes, depthMax: limits.depthMax, bytesMax: limits.bytesMax,
            numbersFit: limits.numbersFit, comments: comments)
    }

    /// Without the ceiling on depth, which only merging needs: see `JSON.document`.
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
            var scanner = JSONScanner(
                text, depthMax: depthMax, numbersFit: numbersFit, comments: comments)
            try scanner.scan()
            return scanner.tape
        }
    }

    /// The one value that the text is.
    package var root: JSONView { JSONView(document: self, index: 0) }
}
