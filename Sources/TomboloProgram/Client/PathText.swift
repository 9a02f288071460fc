import TomboloJSON

/// Paths and queries of requests (RFC 3986).
enum PathText {
    /// Escapes all characters except unreserved ones, for a path segment or a query value.
    static func escaped(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            if byte.isUnreserved {
                result.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                result += digits.utf8.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return result
    }

    /// `path` followed by the parameters that have a value.
    static func query(_ path: String, _ parameters: [(name: String, value: String?)]) -> String {
        var text = path
        var separator = path.contains("?") ? "&" : "?"
        for (name, value) in parameters {
            guard let value else { continue }
            text += "\(separator)\(name)=\(escaped(value))"
            separator = "&"
        }
        return text
    }
}
