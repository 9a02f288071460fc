package import TomboloCore
package import TomboloJSON

/// The activities that one `POST /v1/activities/end` ended.
package struct EndManyAnswer: AnswerObject, Sendable {
    private let ended: [(activity: Identifier, seq: Int64?, version: Int64)]
    private let isDryRun: Bool

    /// The ended activities.
    package init(_ ended: [Accepted]) {
        self.ended = ended.map { ($0.activity, $0.tenantSeq, $0.version) }
        isDryRun = false
    }

    /// For a dry run: the activities that would end. They have no place in the log.
    package init(dryRun ended: [(activity: Identifier, version: Int64)]) {
        self.ended = ended.map { ($0.activity, nil, $0.version) }
        isDryRun = true
    }

    package func write(membersTo writer: inout JSONWriter) {
        if isDryRun { writer.member("dry_run", true) }
        writer.member("count", ended.count)
        writer.array("ended", of: ended) { writer, one in
            writer.object { writer in
                writer.member("activity", one.activity.rawValue)
                if let seq = one.seq { writer.member("seq", seq) }
                writer.member("version", one.version)
            }
        }
    }
}
