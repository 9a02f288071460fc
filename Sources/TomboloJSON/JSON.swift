/// The bytes of one valid JSON value, as stored for `state` and `attributes`. The producer's names,
/// order and spelling of numbers are kept.
///
/// Two values are equal if their bytes are: `1.0` is not `1`.
package struct JSON: Hashable, Sendable, CustomStringConvertible {
    /// The value in UTF-8, without surrounding white space.
    package let bytes: [UInt8]

    /// Checks a value from outside and drops surrounding white space.
    ///
    /// - Throws: the errors of `JSONDocument.init`.
    package init(validating bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONError) {
        self = try JSONDocument(bytes, limits: limits).root.json
    }

    /// Takes bytes that this program has written or checked. Debug builds check them again.
    package init(unchecked bytes: [UInt8]) {
        assert(Self.scan(bytes) != nil, "not JSON: \(String(decoding: bytes, as: UTF8.self))")
        self.bytes = bytes
    }

    /// `{}`
    package static let emptyObject = JSON(unchecked: Array("{}".utf8))

    /// `null`
    package static let null = JSON(unchecked: Array("null".utf8))

    /// The value with an index. Scans the bytes again, so keep the result if it is needed twice.
    package var document: JSONDocument {
        guard let document = Self.scan(bytes) else {
            preconditionFailure("JSON(unchecked:) was given bytes that are not JSON")
        }
        return document
    }

    /// Scans without limits: values from outside were checked before.
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
