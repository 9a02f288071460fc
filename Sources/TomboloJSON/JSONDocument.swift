/// A JSON text (RFC 8259) and its index. It is scanned once and held as the producer's bytes and a
/// flat tape, not as a tree of objects.
///
/// A document is always valid: UTF-8, no duplicate names, no lone surrogate, exactly one value.
/// Values are converted only when a view reads them. It never changes.
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

    /// Scans `bytes` in one pass, in linear time (for objects of more than 16 members, comparing
    /// names takes n log n).
    ///
    /// A byte order mark is refused, as RFC 8259 section 8.1 allows.
    ///
    /// - Parameters:
    ///   - limits: limits on size and nesting.
    ///   - comments: true if `//` and `/* */` count as white space. For files that people write
    ///     (the configuration), never for input from the network. Trailing commas are refused.
    /// - Throws: the first fault found. A duplicate name is reported at the object's end, so
    ///   another fault inside the object comes first.
    package init(
        _ bytes: [UInt8], limits: JSONLimits = JSONLimits(), comments: Bool = false
    ) throws(JSONError) {
        try self.init(
            bytes, depthMax: limits.depthMax, bytesMax: limits.bytesMax,
            numbersFit: limits.numbersFit, comments: comments)
    }

    /// Scans without the ceiling on depth, which only merging needs: see `JSON.document`.
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

    /// The text's one value.
    package var root: JSONView { JSONView(document: self, index: 0) }
}
