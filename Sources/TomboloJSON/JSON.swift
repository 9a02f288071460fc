/// The bytes of one valid JSON value, standing alone: what `state` and `attributes` are kept as.
/// Names, order and the spelling of numbers stay the producer's.
///
/// Two values are equal if their bytes are: `1.0` is not `1`.
package struct JSON: Hashable, Sendable, CustomStringConvertible {
    /// The value, UTF-8, without space around it.
    package let bytes: [UInt8]

    /// Checks a value from outside and drops the space around it.
    ///
    /// - Throws: what `JSONDocument.init` throws.
    package init(validating bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONError) {
        self = try JSONDocument(bytes, limits: limits).root.json
    }

    /// Takes bytes that this program has written itself, or checked before it stored them. Debug
    /// builds check them again.
    package init(unchecked bytes: [UInt8]) {
        assert(Self.scan(bytes) != nil, "not JSON: \(String(decoding: bytes, as: UTF8.self))")
        self.bytes = bytes
    }

    /// `{}`
    package static let emptyObject = JSON(unchecked: Array("{}".utf8))

    /// `null`
    package static let null = JSON(unchecked: Array("null".utf8))

    /// The value with an index over it: scans the bytes again, so keep it where it is asked twice.
    package var document: JSONDocument {
        guard let document = Self.scan(bytes) else {
            preconditionFailure("JSON(unchecked:) was given bytes that are not JSON")
        }
        return document
    }

    /// The limits are for what comes from outside, and it was checked there.
    private static func scan(_ bytes: [UInt8]) -> JSONDocument? {
        do {
            return try JSONDocument(
                bytes, depthMax: .max, bytesMax: JSONLimits.bytesCeiling, numbersFit: false,
                comments: false)
        } catch {
            return nil
        }
    }

    /// The text itself.
    package var description: String { String(decoding: bytes, as: UTF8.self) }
}
