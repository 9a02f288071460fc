package import TomboloCore
package import TomboloJSON

/// The answer to `GET /v1/overview`.
package struct OverviewAnswer: AnswerObject, Sendable {
    /// A problem that needs an operator's attention.
    package struct Attention: Hashable, Sendable {
        package var code: AttentionCode
        /// What is wrong in this case, in one sentence or a few.
        package var text: String
        /// When it began, by the relay's clock; nil if the relay does not know it.
        package var since: Instant?
        /// How many objects have the problem.
        package var count: Int64
        /// One of the affected activities, and one of the affected devices, as an example.
        package var activity: Identifier?
        package var device: Identifier?
        /// The first of them, if they are cards; the example is one of these.
        package var members: [Overview.Group.Member] = []
        /// The app whose pushes wait, because its upstream is closed or an operator has paused it.
        package var app: String?
        package var environment: String?
        /// The name of the pause that holds pushes.
        package var pause: String?
        /// Commands that show more or fix the problem.
        package var commands: [String]

        /// - Parameter commands: complete command lines, ready to be typed.
        package init(
            _ code: AttentionCode, _ text: String, count: Int64 = 1, since: Instant? = nil,
            activity: Identifier? = nil, device: Identifier? = nil, commands: [String]
        ) {
            (self.code, self.text, self.count, self.since) = (code, text, count, since)
            (self.activity, self.device, self.commands) = (activity, device, commands)
        }

        /// The row of the code.
        package var row: AttentionRow { AttentionRow.row(code) }

        /// A text of the row with this item's names; nil if it has no name for a placeholder.
        package func filled(_ text: String) -> String? {
            AttentionRow.filled(
                text,
                [
                    "activity": activity?.rawValue, "device": device?.rawValue, "app": app,
                    "environment": environment, "pause": pause,
                ])
        }

        /// The command to begin with: the row's, if it is one of `commands`; else the first one.
        package var command: String? {
            let command = filled(row.command)
            return commands.first { $0 == command } ?? commands.first
        }
    }

    package var tenant: TenantID
    package var keyID: String
    package var scopes: [String]
    package var at: Instant
    /// True if this key may use `/v1/phones`.
    package var hasPhones: Bool
    package var counters: CoreCounters
    package var lastSeq: Int64
    /// When the cards were looked at.
    package var countedAt: Instant
    package var overview: Overview
    package var attention: [Attention]
    /// The last minutes; nil if the request did not ask for them.
    package var history: HistoryAnswer?

    /// - Parameters:
    ///   - scopes: the scopes of the key that made the request.
    ///   - attention: the problems, the most urgent first.
    package init(
        tenant: TenantID, keyID: String, scopes: [String], at: Instant, hasPhones: Bool,
        counters: CoreCounters, lastSeq: Int64, countedAt: Instant, overview: Overview,
        attention: [Attention]
    ) {
        (self.tenant, self.keyID, self.scopes, self.at) = (tenant, keyID, scopes, at)
        (self.hasPhones, self.counters, self.lastSeq) = (hasPhones, counters, lastSeq)
        (self.countedAt, self.overview, self.attention) = (countedAt, overview, attention)
    }

    package func write(membersTo writer: inout JSONWriter) {
        writer.member("tenant", tenant.name.rawValue)
        writer.object("key") { writer in
            writer.member("id", keyID)
            writer.array("scopes", of: scopes) { $0.string($1) }
        }
        writer.member("at", at.rfc3339)
        writer.member("phones", hasPhones)
        writer.member("last_seq", lastSeq)
        writer.member("counted_at", countedAt.rfc3339)
        writeCounters(to: &writer)
        writer.object("cards") { writer in
            writer.member("running", overview.cards.running)
            writer.member("accepted", overview.cards.accepted)
            for standing in CardStanding.allCases where standing != .behind {
                writer.member(standing.rawValue, overview.cards[standing])
            }
        }
        writer.member("behind", overview.cards[.behind])
        writer.array("slowest", of: overview.slowest) { Self.write($1, to: &$0) }
        writer.array("attention", of: attention) { Self.write($1, to: &$0) }
        if let history { writer.object("history") { history.write(membersTo: &$0) } }
    }

    private func writeCounters(to writer: inout JSONWriter) {
        writer.object("counters") { writer in
            writer.member("activities", counters.activitiesLive)
            writer.member("destinations", counters.destinations)
            writer.member("devices", counters.devices)
            writer.member("events", counters.eventsAccepted)
            writer.member("refused", counters.commandsRefused)
            writer.member("pushes", counters.pushesSent)
            writer.member("pushes_accepted", counters.pushesAccepted)
            writer.member("pushes_rejected", counters.pushesRejected)
            writer.member("pushes_not_sent", counters.pushesNotSent)
            writer.member("pushes_unknown", counters.pushesUnknown)
            writer.member("frames", counters.framesSent)
        }
    }

    private static func write(_ behind: Overview.Behind, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("activity", behind.activity.rawValue)
            writer.member("device", behind.device.rawValue)
            writer.member("class", behind.budgetClass.name)
            writer.member("versions", behind.versions)
            if let waiting = behind.waiting {
                writer.named("waiting") { $0.decision(waiting, behind.trouble) }
            }
        }
    }

    private static func write(_ item: Attention, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("code", item.code.rawValue)
            writer.member("title", item.row.title)
            writer.member("severe", item.row.isSevere)
            writer.member("text", item.text)
            writer.optional("since", item.since?.rfc3339)
            writer.member("count", item.count)
            writer.optional("activity", item.activity?.rawValue)
            writer.optional("device", item.device?.rawValue)
            if !item.members.isEmpty {
                writer.array("members", of: item.members) { writer, member in
                    writer.object { writer in
                        writer.member("activity", member.activity.rawValue)
                        writer.member("device", member.device.rawValue)
                    }
                }
            }
            writer.optional("app", item.app)
            writer.optional("environment", item.environment)
            writer.optional("look", item.filled(item.row.look))
            if let action = item.row.action, let path = item.filled(action.path) {
                writer.object("action") { writer in
                    writer.member("title", action.title)
                    writer.member("method", action.method)
                    writer.member("path", path)
                }
            }
            writer.optional("command", item.command)
            writer.array("try", of: item.commands) { $0.string($1) }
        }
    }
}
