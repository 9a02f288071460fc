package import TomboloCore
package import TomboloJSON

/// A problem detail of RFC 9457: one refusal, told so that the reader can act on it.
///
/// ```swift
/// let problem = Problem(.invalidQuery, "limit is 0; it is 1 to 1000").adding("limit", 0)
/// let status = problem.status  // 400
/// ```
package struct Problem: Error, Hashable, Sendable {
    package var code: ProblemCode
    /// What is wrong this time, then what to do.
    package var detail: String
    package var errors: [FieldError]
    /// Further members, in order; none may have the name of a member of RFC 9457.
    package var extensions: [Extension] = []

    /// The methods that the path does take, where it is the method that is wrong.
    package var allow: [String]?

    /// After so long the same may be taken, where that is known.
    package var retryAfter: Span?

    /// Whose key was refused, where that is known: for the operator, and never written.
    package var keyID: String?

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

    package var page: ProblemPage { ProblemRegistry.page(code) }
    package var status: Int { page.status }

    /// The same with one more member, or with another value of one it has.
    package func adding(_ name: String, _ value: some BinaryInteger) -> Problem {
        adding(name, JSON(unchecked: Array(String(value).utf8)))
    }

    /// The same with one more member.
    package func adding(_ name: String, _ value: String) -> Problem {
        var writer = JSONWriter()
        writer.string(value)
        return adding(name, writer.json)
    }

    /// The same with one more member, a list of numbers.
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
    /// - Parameter traceID: 32 hex digits by which this answer is found again; lines of a batch
    ///   have that of the batch.
    package func write(to writer: inout JSONWriter, traceID: String? = nil) {
        writer.beginObject()
        writer.member("type", page.path)
        writer.member("title", page.title)
        writer.member("status", status)
        writer.member("code", code.rawValue)
        writer.member("detail", detail)
        if !errors.isEmpty {
            writer.name("errors")
            writer.beginArray()
            for error in errors {
                writer.beginObject()
                writer.member("pointer", error.pointer)
                writer.member("detail", error.message)
                writer.endObject()
            }
            writer.endArray()
        }
        for member in extensions { writer.member(member.name, member.value) }
        if let traceID { writer.member("trace_id", traceID) }
        writer.endObject()
    }
}
