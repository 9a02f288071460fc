import TomboloAPI
import TomboloCore
import TomboloHTTP
import TomboloRelay

extension ServerDoors {
    /// What the key's tenant has done: nothing tells of the others.
    func metrics(_ request: DoorRequest) async -> DoorResponse {
        var text = MetricsText()
        let tenant = request.tenant
        let counters = counters[tenant] ?? DoorCounters()
        Self.write(await relay.counters(of: tenant), to: &text)
        text.write(
            "tombolo_log_last_seq", .gauge, "Sequence of the tenant's newest durable event.",
            await relay.lastSeq(of: tenant))
        text.write(
            "tombolo_ready", .gauge, "1 while events are taken.", await relay.isReady ? 1 : 0)
        text.write(
            "tombolo_apps_waiting", .gauge,
            "Apps whose pushes wait: Apple refuses the key, is unwell, or cannot be reached.",
            Int64(await relay.appsWaiting(of: tenant)))
        if let end = certificateEnd {
            text.write(
                "tombolo_certificate_end_seconds", .gauge,
                "When the listener's certificate ends, in Unix time.", end)
        }
        text.write(
            "tombolo_clock_behind_seconds", .gauge,
            "How far the machine's clock is behind the timestamps that phones have.",
            await relay.clockBehind.nanoseconds / 1_000_000_000)
        text.write(
            "tombolo_http_requests_total", .counter, "Requests by operation.", label: "operation",
            Operation.allCases.map { ($0.rawValue, counters.requests[$0] ?? 0) })
        text.write(
            "tombolo_http_problems_total", .counter, "Refusals by code.", label: "code",
            ProblemCode.allCases.map { ($0.rawValue, counters.problems[$0] ?? 0) })
        // Of all clients: no tenant learns of the others'.
        if await relay.isAlone(tenant) {
            if let server = watch?() { Self.write(server, to: &text) }
            text.write(
                "tombolo_http_keys_refused_total", .counter,
                "Requests without a valid key, of all clients, by what they were answered.",
                label: "status", [("401", refusedKeys.refused), ("429", refusedKeys.slowed)])
        }
        return .text(text.text, type: MetricsText.contentType)
    }

    private static func write(_ server: HTTPServerView, to text: inout MetricsText) {
        text.write(
            "tombolo_http_bytes_held", .gauge,
            "Bytes of unread answers and unfinished bodies, of all clients.", server.bytesHeld)
        text.write(
            "tombolo_http_connections_cut_total", .counter,
            "Connections that the relay ended or refused because a client went beyond a limit.",
            label: "reason", server.cuts.map { ($0.reason.rawValue, $0.count) })
    }

    private static func write(_ core: CoreCounters, to text: inout MetricsText) {
        text.write(
            "tombolo_events_accepted_total", .counter, "Events stored.", core.eventsAccepted)
        text.write(
            "tombolo_commands_refused_total", .counter, "Commands refused by the core.",
            core.commandsRefused)
        text.write("tombolo_pushes_sent_total", .counter, "Pushes handed over.", core.pushesSent)
        text.write(
            "tombolo_push_results_total", .counter, "Pushes by what became of them.",
            label: "result",
            [
                ("accepted", core.pushesAccepted), ("rejected", core.pushesRejected),
                ("not_sent", core.pushesNotSent), ("unknown", core.pushesUnknown),
            ])
        text.write("tombolo_frames_sent_total", .counter, "Frames of clips sent.", core.framesSent)
        text.write(
            "tombolo_activities_live", .gauge, "Activities that run.", Int64(core.activitiesLive))
        text.write(
            "tombolo_destinations", .gauge, "Destinations known.", Int64(core.destinations))
        text.write("tombolo_devices", .gauge, "Devices registered.", Int64(core.devices))
    }
}
