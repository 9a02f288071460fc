/// The bytes of one valid JSON value, as stored for `state` and `attributes`. Names, their order
/// and the text of numbers are as the producer wrote them.
///
/// Two values are equal if their bytes are: `1.0` is not equal to `1`.
package struct JSON: Hashable, Sendable, CustomStringConvertible {
    /// The value in UTF-8, without surrounding white space.
    package let bytes: [UInt8]

    /// Checks a value that comes from outside, and removes white space around it.
    ///
    /// - Throws: the errors of `JSONDocument.init`.
    package init(validating bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONError) {
        self = try JSONDocument(bytes, limits: limits).root.json
    }

    /// Uses bytes that this program has written or has checked. Debug builds check them again.
    package init(unchecked bytes: [UInt8]) {
        assert(Self.scan(bytes) != nil, "not JSON: \(String(decoding: bytes, as: UTF8.self))")
        self.bytes = bytes
    }

    /// `{}`
    package static let emptyObject = JSON(unchecked: Array("{}".utf8))

    /// `null`
    package static let null = JSON(unchecked: Array("null".utf8))

    /// The value with its index. Each call scans the bytes, so keep the result if you need it
    /// twice.
    package var document: JSONDocument {
        guard let document = Self.scan(bytes) else {
            preconditionFailure("JSON(unchecked:) was given bytes that are not JSON")
        }
        return document
    }

    /// Scans without limits, because values from outside were checked with limits before.
    private static func scan(_ bytes: [UInt8]) -> JSONDocument? {
        do {
            return try JSONDocument(
                bytes, depthMax: .max, bytesMax: JSONLimits.bytesCeiling, numbersFit: false,
                comments: false)
        } catch {
            return nil
        }
    }

    /// The JSON text.
    package var description: String { String(decoding: bytes, as: UTF8.self) }
}
