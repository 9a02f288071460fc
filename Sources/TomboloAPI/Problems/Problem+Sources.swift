package import TomboloCore
package import TomboloJSON

extension Problem {
    /// The problem that reports a refusal of the core.
    package init(_ refusal: Refusal) {
        // Each code of a refusal is also a problem's code; `ProblemTests` checks this.
        let code = ProblemCode(rawValue: refusal.code.rawValue) ?? .internalError
        self.init(code, refusal.detail, errors: refusal.errors)
        if let version = refusal.version { self = adding("version", version) }
        retryAfter = refusal.retryAfter
        if let bytes = refusal.bytesOver { self = adding("bytes_over", bytes) }
    }

    /// The problem for a body that is not JSON.
    package init(_ error: JSONError) {
        self.init(
            .invalidJSON,
            "Line \(error.line), column \(error.column): \(error.message). Correct the body there.")
        self = adding("line", error.line).adding("column", error.column)
    }

    /// The problem for a line of a batch that is not JSON; the batch adds the line's number.
    init(inLine error: JSONError) {
        let cure =
            error.code == .trailingBytes
            ? "Begin a new line there, because each line is one event." : "Correct the line there."
        self.init(.invalidJSON, "Column \(error.column): \(error.message). \(cure)")
        self = adding("column", error.column)
    }

    /// The problem for invalid fields.
    package init(_ faults: FieldErrors) {
        let first = faults.errors.first.map(Self.sentence) ?? "A field is not valid."
        let others = faults.errors.count - 1
        let more = others > 0 ? " \(others) more in errors[]." : ""
        self.init(.invalidField, first + more, errors: faults.errors)
    }

    private static func sentence(_ error: FieldError) -> String {
        let subject = error.pointer.isEmpty ? "The body" : error.pointer
        // Some messages are predicates ("must be a string"), others need a colon ("unknown field").
        let predicates = ["must", "is", "has", "are", "was"]
        let word = String(error.message.prefix { $0 != " " })
        let end = error.message.hasSuffix("?") ? "" : "."
        return subject + (predicates.contains(word) ? " " : ": ") + error.message + end
    }
}
