package import TomboloJSON

/// Says whether the relay accepts events, and which problems the relay itself has. The answer is
/// public, so it contains nothing about tenants and their data.
package struct ReadinessAnswer: AnswerObject, Sendable {
    /// Whether the relay accepts events now.
    package enum Status: String, Sendable {
        case ready
        case notReady = "not_ready"
        case stopping
        /// Another relay owns the log, and this one waits for it.
        case waiting
    }

    package var status: Status
    /// The owner, since when it owns the log, and its last heartbeat; only if `status` is waiting.
    package var owner: (name: String, since: String, lastBeat: String?)?
    package var entries: [OverviewAnswer.Attention]

    /// - Parameter entries: they must name no tenant, app, activity, device or user.
    package init(_ status: Status, _ entries: [OverviewAnswer.Attention]) {
        (self.status, self.entries) = (status, entries)
    }

    package func write(membersTo writer: inout JSONWriter) {
        writer.member("status", status.rawValue)
        if let owner {
            writer.member("owner", owner.name)
            writer.member("owner_since", owner.since)
            if let beat = owner.lastBeat { writer.member("last_beat", beat) }
        }
        writer.array("entries", of: entries) { writer, entry in
            writer.object { writer in
                writer.member("code", entry.code.rawValue)
                writer.member("title", entry.row.title)
                writer.member("severe", entry.row.isSevere)
                writer.member("text", entry.text)
                writer.array("try", of: entry.commands) { $0.string($1) }
            }
        }
    }
}
