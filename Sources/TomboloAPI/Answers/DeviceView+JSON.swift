package import TomboloCore
package import TomboloJSON

extension DeviceView: AnswerObject {
    /// Number of a token's digits that are shown: enough to distinguish tokens, too few to use one.
    private static let tokenDigitsShown = 8

    /// Writes the device as `GET /v1/devices/{device}` shows it. A token is never shown in full.
    package func write(membersTo writer: inout JSONWriter) {
        writer.member("device", id.rawValue)
        writer.optional("user", registration.user)
        writer.optional("app", registration.app)
        writer.optional("environment", registration.environment?.name)
        writer.optional("os", registration.os)
        writer.optional("app_version", registration.appVersion)
        writer.optional("time_zone", registration.timeZone)
        writer.optional("locale", registration.locale)
        writer.member("frequent_updates", registration.frequentUpdates ?? false)
        if let isOn = registration.activitiesEnabled {
            writer.member("activities_enabled", isOn)
        }
        writer.optional("control_center", registration.controlCenter)
        writer.member("class", budgetClass.name)
        writer.array("tokens", of: tokens) { writer, token in
            writer.object { writer in
                writer.member("name", token.name)
                writer.member("token", Self.redacted(token.token))
                writer.member("registered_at", token.registeredAt.rfc3339)
            }
        }
        if !refused.isEmpty {
            writer.array("refused_tokens", of: refused) { writer, standing in
                writer.object { writer in
                    writer.member("name", standing.name.text)
                    writer.optional("at", standing.refusal?.at.rfc3339)
                    writer.optional("answer", standing.refusal?.answer)
                    writer.optional("environment", standing.refusal?.environment?.name)
                    writer.member("text", "\(standing.refused ?? ""). \(standing.cure)")
                }
            }
        }
        if let presence {
            writer.object("presence") { writer in
                writer.optional("phase", presence.report.phase?.name)
                writer.optional("cause", presence.report.cause?.name)
                writer.optional("at", presence.report.at?.rfc3339)
                writer.member("state", presence.state.name)
                writer.member("in_front", presence.isInFront)
            }
        }
        if let glance { write(glance, to: &writer) }
    }

    private func write(_ glance: DeviceGlance, to writer: inout JSONWriter) {
        writer.optional("last_seen", glance.lastSeen?.rfc3339)
        writer.object("shows") { writer in
            writer.member("count", glance.showsCount)
            writer.array("activities", of: glance.shows) { $0.string($1.rawValue) }
        }
        writer.object("budget") { writer in
            if let left = glance.left { writer.member("left", left) }
            writer.member("text", glance.budgetText)
        }
        let check = DeviceCheck(of: id, self, boundUsers: [], at: glance.at)
        writer.array("missing", of: check.missing) { $0.string($1.rawValue) }
    }

    private static func redacted(_ token: String) -> String {
        token.count <= tokenDigitsShown ? "…" : token.prefix(tokenDigitsShown) + "…"
    }
}

extension DeviceGlance {
    /// What is left of the device's budget, in a sentence.
    fileprivate var budgetText: String {
        guard let left, let perHour else { return "No budget limits its pushes." }
        let pushes = left == 1 ? "1 push is" : "\(left) pushes are"
        return "\(pushes) left now, and \(Int64(perHour)) an hour come back."
    }
}
