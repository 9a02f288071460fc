package import TomboloCore
package import TomboloJSON

/// A problem detail of RFC 9457: one refusal, with a text that says what to do.
///
/// ```swift
/// let problem = Problem(.invalidQuery, "limit is 0; it is 1 to 1000").adding("limit", 0)
/// let status = problem.status  // 400
/// ```
package struct Problem: Error, Hashable, Sendable {
    package var code: ProblemCode
    /// What is wrong in this case, and then what to do.
    package var detail: String
    package var errors: [FieldError]
    /// Further members, in this order. None may have the name of a member that RFC 9457 defines.
    package var extensions: [Extension] = []

    /// If the method is wrong: the methods that the path allows.
    package var allow: [String]?

    /// Time after which a retry may succeed; nil if unknown.
    package var retryAfter: Span?

    /// The id of the refused key, if known. For the operator's log, never for an answer.
    package var keyID: String?

    /// The activity of a refused event, if it could be read. For the list of refused requests,
    /// never for an answer.
    package var activity: Identifier?

    /// A member beyond those of RFC 9457, section 3.1.
    package struct Extension: Hashable, Sendable {
        package var name: String
        package var value: JSON
    }

    package init(_ code: ProblemCode, _ detail: String, errors: [FieldError] = []) {
        self.code = code
        self.detail = detail
        self.errors = errors
    }

    package var page: ProblemPage { ProblemPage.page(code) }
    package var status: Int { page.status }

    /// A copy with this member added or replaced.
    package func adding(_ name: String, _ value: some BinaryInteger) -> Problem {
        adding(name, JSON(unchecked: Array(String(value).utf8)))
    }

    /// A copy with this member added.
    package func adding(_ name: String, _ value: String) -> Problem {
        adding(name, JSON.string(value))
    }

    /// A copy with this member, a list of numbers, added.
    package func adding(_ name: String, _ values: [Int]) -> Problem {
        adding(
            name, JSON(unchecked: Array("[\(values.map(String.init).joined(separator: ","))]".utf8))
        )
    }

    private func adding(_ name: String, _ value: JSON) -> Problem {
        var problem = self
        problem.extensions.removeAll { $0.name == name }
        problem.extensions.append(Extension(name: name, value: value))
        return problem
    }

    /// Writes the problem as an object.
    ///
    /// - Parameter traceID: 32 hex digits that identify this answer. Lines of a batch share its id.
    package func write(to writer: inout JSONWriter, traceID: String? = nil) {
        writer.object { writer in
            writer.member("type", page.path)
            writer.member("title", page.title)
            writer.member("status", status)
            writer.member("code", code.rawValue)
            writer.member("detail", detail)
            if !errors.isEmpty {
                writer.array("errors", of: errors) { writer, error in
                    writer.object { writer in
                        writer.member("pointer", error.pointer)
                        writer.member("detail", error.message)
                    }
                }
            }
            for member in extensions { writer.member(member.name, member.value) }
            if let traceID { writer.member("trace_id", traceID) }
        }
    }
}
