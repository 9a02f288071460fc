/// The names of one scope in Swift. Each is valid, and each is there once.
struct SwiftNames {
    private var taken: Set<String> = ["CodingKeys", "RawValue", "ContentState", "JSONValue"]

    /// The name of a property: that of the member in JSON if Swift allows it.
    mutating func member(_ name: String) -> String {
        unique(Self.isIdentifier(name) ? name : Self.camel(name, isType: false))
    }

    /// The name of a nested type. It hides no type that the code uses.
    mutating func typeName(_ text: String) -> String {
        let name = Self.camel(text, isType: true)
        return unique(Self.reserved.contains(name) ? name + "Value" : name)
    }

    /// The name of an enum's case for a value.
    mutating func caseName(_ text: String) -> String {
        unique(Self.camel(text.first == "-" ? "minus \(text)" : text, isType: false))
    }

    private mutating func unique(_ name: String) -> String {
        var result = name
        var number = 2
        while !taken.insert(result).inserted {
            result = "\(name)\(number)"
            number += 1
        }
        return result
    }

    /// The case of an enum whose raw value is a text.
    static func enumCase(_ identifier: String, _ text: String) -> String {
        "case \(spelled(identifier))" + (identifier == text ? "" : " = \(literal(text))")
    }

    /// True if a type with exactly this name can be declared.
    static func isType(_ name: String) -> Bool {
        isIdentifier(name) && !reserved.contains(name) && !keywords.contains(name)
    }

    static func spelled(_ identifier: String) -> String {
        keywords.contains(identifier) ? "`\(identifier)`" : identifier
    }

    private static func literal(_ text: String) -> String {
        let scalars = text.unicodeScalars.map { scalar -> String in
            switch scalar.properties.generalCategory {
            case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator,
                .paragraphSeparator:
                "\\u{\(String(scalar.value, radix: 16))}"
            default: scalar == "\\" || scalar == "\"" ? "\\\(scalar)" : String(scalar)
            }
        }
        return "\"\(scalars.joined())\""
    }

    /// The words of a text as `upperCamelCase` or, for a type, `UpperCamelCase`.
    private static func camel(_ text: String, isType: Bool) -> String {
        let cased = text == text.uppercased() ? text.lowercased() : text
        var words = cased.unicodeScalars.split { $0 == "_" || !isPart($0) }.map(String.init)
        if words.isEmpty { words = [text.isEmpty ? "empty" : "value"] }
        let parts = words.enumerated().map { index, word in
            let first = word.prefix(1)
            return (index == 0 && !isType ? first.lowercased() : first.uppercased())
                + word.dropFirst()
        }
        let name = parts.joined()
        return isIdentifier(name) ? name : "_" + name
    }

    private static func isIdentifier(_ text: String) -> Bool {
        guard let first = text.unicodeScalars.first, text != "_" else { return false }
        return isHead(first) && text.unicodeScalars.allSatisfy(isPart)
    }

    private static func isHead(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter:
            // Swift has this letter among its operators.
            scalar != "\u{2E2F}"
        default: scalar == "_"
        }
    }

    private static func isPart(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .decimalNumber, .nonspacingMark, .spacingMark: true
        default: isHead(scalar)
        }
    }

    /// Types that the code uses itself.
    private static let reserved: Set<String> = [
        "ActivityAttributes", "Bool", "Codable", "CodingKey", "ContentState", "Date", "Decoder",
        "Double", "Encoder", "Hashable", "Int", "JSONValue", "String", "UUID",
    ]

    /// Words that are names only between backticks.
    private static let keywords = Set(
        """
        Any Protocol Self Type any as associatedtype break case catch class continue default \
        defer deinit do each else enum extension fallthrough false fileprivate for func guard if \
        import in init inout internal is let nil operator precedencegroup private protocol \
        public repeat rethrows return self some static struct subscript super switch throw \
        throws true try typealias var where while
        """.split(separator: " ").map(String.init))
}
