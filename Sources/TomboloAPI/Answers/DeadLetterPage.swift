package import TomboloCore
package import TomboloJSON

/// A page of dead letters, newest first.
package struct DeadLetterPage: AnswerObject, Sendable {
    private let letters: [DeadLetter]
    private let next: Int64?

    package init(_ letters: [DeadLetter], next: Int64?) {
        self.letters = letters
        self.next = next
    }

    package func write(membersTo writer: inout JSONWriter) {
        writer.array("dead_letters", of: letters) { writer, letter in
            writer.object { writer in
                writer.member("id", letter.id)
                writer.member("activity", letter.activity.id.rawValue)
                writer.member("device", letter.device.rawValue)
                writer.member("do", letter.eventName)
                writer.member("version", letter.version)
                writer.member("status", letter.status)
                writer.member("reason", letter.reason)
                writer.member("apns_id", letter.apnsID)
                writer.member("at", letter.at.rfc3339)
            }
        }
        writer.nullable("next_cursor", next.map { "\($0)" })
    }
}

/// The result of a retry.
package struct RetryAnswer: AnswerObject, Sendable {
    private let stored: Stored
    private let isDryRun: Bool

    /// - Parameter isDryRun: true if nothing was retried.
    package init(_ stored: Stored, isDryRun: Bool = false) {
        self.stored = stored
        self.isDryRun = isDryRun
    }

    /// Writes the result. `retried` deliveries are tried again with the newest state. `unreachable`
    /// ones cannot be sent to a device now: they stay dead letters, and `kept` has the reasons.
    package func write(membersTo writer: inout JSONWriter) {
        if isDryRun { writer.member("dry_run", true) }
        writer.member("retried", stored.count)
        writer.member("unreachable", stored.unreachable)
        writer.array("kept", of: stored.kept) { writer, kept in
            writer.object { writer in
                writer.member("reason", kept.obstacle.rawValue)
                writer.member("reason_text", kept.obstacle.sentence)
                writer.member("count", kept.count)
            }
        }
    }
}
