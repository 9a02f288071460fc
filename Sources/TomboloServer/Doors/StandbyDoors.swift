import TomboloAPI
package import TomboloCore
package import TomboloHTTP

/// The doors of a relay that may have to wait for its log. While another relay owns the log, they
/// refuse every request with 503, so that a proxy sends it there. Afterwards they pass requests on.
///
/// On the loop's thread only, hence `@unchecked Sendable`.
package final class StandbyDoors: HTTPHandler, @unchecked Sendable {
    /// The owner of the log, as it was last seen.
    package struct Owner: Hashable, Sendable {
        package var name: String
        package var since: Instant
        package var lastBeat: Instant?
        package var beatAge: Span

        /// Makes an owner from all its values.
        package init(name: String, since: Instant, lastBeat: Instant?, beatAge: Span) {
            (self.name, self.since) = (name, since)
            (self.lastBeat, self.beatAge) = (lastBeat, beatAge)
        }

        /// Says who is waited for.
        package var text: String { "waits for \(name) (owner since \(since.rfc3339))" }
    }

    /// The doors of the relay, once it has its log.
    package var doors: ServerDoors?
    /// Returns the owner; nil before the first look, and while this relay recovers the log.
    package var owner: () -> Owner? = { nil }
    /// Why the owner cannot be looked at now; nil if it can.
    package var trouble: () -> String? = { nil }
    private let version: String

    /// Doors that refuse everything until `doors` is set.
    package init(version: String) { self.version = version }

    package func handle(_ exchange: HTTPExchange) async {
        if let doors { return await doors.handle(exchange) }
        let response = reply(to: exchange.head)
        exchange.respond(response.status, ServerDoors.guarded(response.fields), response.body)
    }

    private func reply(to head: HTTPRequestHead) -> DoorResponse {
        let path = head.target.prefix { $0 != "?" }
        let wantsJSON = head.fields.weighs("application/json", in: "accept") ?? false
        switch path {
        case "/livez": return .text("live\n")
        case "/metrics": return metrics
        case "/readyz" where wantsJSON: return readiness
        default:
            let beat = owner()?.lastBeat.map { "; its last heartbeat was at \($0.rfc3339)" } ?? ""
            // Who owns the log is said in one place only.
            guard path == "/readyz" else {
                return refusal("This relay waits for the log.", head)
            }
            let cause = trouble().map { " It cannot look now: \($0)." } ?? ""
            return refusal("This relay \(state)\(beat).\(cause)", head)
        }
    }

    private func refusal(_ text: String, _ head: HTTPRequestHead) -> DoorResponse {
        .problem(
            Problem(.waiting, text), traceID: TraceParent(head)?.traceID ?? Self.noTrace)
    }

    private static let noTrace = String(repeating: "0", count: 32)

    private var state: String { owner()?.text ?? "takes over the log, and recovers it" }

    private var readiness: DoorResponse {
        .json(503, ["cache-control": "no-cache", "vary": "accept", "retry-after": "1"]) { writer in
            var entries: [OverviewAnswer.Attention] = [
                .init(.waiting, "This relay \(state).", commands: ["tombolo doctor"])
            ]
            if let cause = trouble() {
                let text = "The log's owner cannot be looked at: \(cause)."
                entries.append(
                    .init(.notReady, text, commands: ["tombolo config check --connect"]))
            }
            var answer = ReadinessAnswer(.waiting, entries)
            answer.owner = owner().map { ($0.name, $0.since.rfc3339, $0.lastBeat?.rfc3339) }
            answer.write(to: &writer)
        }
    }

    /// Without a key, because keys are in the log.
    private var metrics: DoorResponse {
        var text = MetricsText()
        text.write(.waitingForOwner, Int64(1))
        if let owner = owner() { text.write(.ownerBeat, owner.beatAge.seconds) }
        text.write(.buildInfo, [([version], Int64(1))])
        return .text(text.text, type: MetricsText.contentType)
    }
}
