package import TomboloCore
package import TomboloJSON

/// The answer to a user's action. The action is stored durably, and valid until `expires_at`.
package struct ActionAnswer: AnswerObject, Sendable {
    private let taken: Stored.TakenAction?

    /// - Parameter taken: the stored action; nil for a dry run.
    package init(_ taken: Stored.TakenAction?) { self.taken = taken }

    package func write(membersTo writer: inout JSONWriter) {
        if let taken {
            writer.member("action", taken.id)
            writer.member("expires_at", taken.expiresAt.rfc3339)
        } else {
            writer.member("dry_run", true)
        }
    }
}
