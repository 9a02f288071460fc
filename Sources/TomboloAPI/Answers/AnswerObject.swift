package import TomboloJSON

/// An answer, or a part of one, that is a JSON object.
package protocol AnswerObject {
    /// Writes the object's names and values.
    func write(membersTo writer: inout JSONWriter)
}

extension AnswerObject {
    /// Writes the object with its brackets.
    package func write(to writer: inout JSONWriter) { writer.object { write(membersTo: &$0) } }
}
