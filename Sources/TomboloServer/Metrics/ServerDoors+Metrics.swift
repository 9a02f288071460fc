import TomboloAPI
import TomboloCore
import TomboloHTTP
import TomboloRelay

extension ServerDoors {
    /// The metrics of the key's tenant. A key of the relay's operator also sees the process, the
    /// disk, and the upstreams of all tenants' apps.
    func metrics(_ request: DoorRequest) async -> DoorResponse {
        var text = MetricsText()
        let tenant = request.tenant
        let counters = counters[tenant] ?? DoorCounters()
        Self.write(await relay.counters(of: tenant), to: &text)
        text.write(.lastSeq, await relay.lastSeq(of: tenant))
        let (waiting, cards) = await relay.waitingChanges(of: tenant)
        text.write(.waiting, waiting.map { ([$0.reason.name], $0.count) })
        text.write(
            .waitingOldest, waiting.map { ([$0.reason.name], $0.age.nanoseconds / 1_000_000_000) })
        text.write(.cards, CardStanding.allCases.map { ([$0.rawValue], Int64(cards[$0])) })
        let operates = request.principal?.operatesRelay == true
        let own = await relay.upstreams(of: tenant)
        Self.write(operates ? await relay.upstreams() : own, to: &text)
        Self.writeTimes(own, to: &text)
        text.write(.requests, counters.requests)
        text.write(.keyEvents, counters.eventsByKey)
        text.write(
            .problems, ProblemCode.allCases.map { ([$0.rawValue], counters.problems[$0] ?? 0) })
        text.write(.ready, await relay.isReady ? 1 : 0)
        text.write(.clockBehind, await relay.clockBehind.nanoseconds / 1_000_000_000)
        if let end = certificateEnd { text.write(.certificateEnd, end) }
        text.write(.buildInfo, [([configuration.version], 1)])
        // These values are sums over all tenants: hide them from a tenant that shares the relay.
        let isAlone = await relay.isAlone(tenant)
        if isAlone || operates {
            if let server = watch?() { Self.write(server, to: &text) }
            text.write(.damagedRows, Int64(await relay.damagedRows))
            text.write(
                .keysRefused, [(["401"], refusedKeys.refused), (["429"], refusedKeys.slowed)])
        }
        if operates {
            text.write(.commit, [([], await relay.commitTimes)])
            if let machine = machine?() { Self.write(machine, to: &text) }
        }
        return .text(text.text, type: MetricsText.contentType)
    }

    private static func write(_ server: HTTPServerView, to text: inout MetricsText) {
        text.write(.bytesHeld, server.bytesHeld)
        text.write(.connectionsCut, server.cuts.map { ([$0.reason.rawValue], $0.count) })
    }

    private static func write(_ core: CoreCounters, to text: inout MetricsText) {
        text.write(.eventsAccepted, core.eventsAccepted)
        text.write(.commandsRefused, core.commandsRefused)
        text.write(.pushesSent, core.pushesSent)
        text.write(
            .pushResults,
            [
                (["accepted"], core.pushesAccepted), (["rejected"], core.pushesRejected),
                (["not_sent"], core.pushesNotSent), (["unknown"], core.pushesUnknown),
            ])
        text.write(
            .pushesSkipped,
            EventDecision.allCases.filter { $0.reason != nil || $0 == .expired }.map {
                ([$0.word], core.decided.count(of: $0))
            })
        text.write(
            .neverBegan, WaitReason.allCases.map { ([$0.name], core.neverBegan[$0] ?? 0) })
        text.write(.framesSent, core.framesSent)
        text.write(.activitiesLive, Int64(core.activitiesLive))
        text.write(.destinations, Int64(core.destinations))
        text.write(.devices, Int64(core.devices))
        text.write(.deadLetters, Int64(core.deadLetters))
        text.write(.pauses, Int64(core.pauses))
    }

    private static func labels(_ upstream: UpstreamView) -> MetricsText.Labels {
        [upstream.app, upstream.environment.name]
    }

    private static func writeTimes(_ upstreams: [UpstreamView], to text: inout MetricsText) {
        text.write(.eventToSent, upstreams.map { (labels($0), $0.meter.eventToSent) })
        text.write(.sentToAnswered, upstreams.map { (labels($0), $0.meter.sentToAnswered) })
    }

    private static func write(_ upstreams: [UpstreamView], to text: inout MetricsText) {
        text.write(
            .upstreams,
            upstreams.flatMap { upstream in
                [
                    (labels(upstream) + ["open"], upstream.isClosed ? 0 : 1),
                    (labels(upstream) + ["closed"], upstream.isClosed ? 1 : 0),
                ]
            })
        text.write(
            .refusals,
            upstreams.flatMap { upstream in
                upstream.meter.refusals.sorted { $0.key < $1.key }.map { reason, count in
                    (labels(upstream) + [reason], count)
                }
            })
    }

    private static func write(_ database: MachineView.Database, to text: inout MetricsText) {
        text.write(.databaseInfo, [([database.durability], 1)])
        text.write(
            .databaseCommit, [(["0.5"], database.commitMedian), (["0.99"], database.commitP99)])
        text.write(.databaseDeadRows, database.deadRows)
        text.write(.databaseSnapshot, database.oldestSnapshot)
        if let standbys = database.standbys { text.write(.standbys, standbys) }
    }

    private static func write(_ machine: MachineView, to text: inout MetricsText) {
        text.write(.logBytes, machine.database?.bytes ?? machine.logBytes)
        if let free = machine.diskFreeBytes { text.write(.diskFree, free) }
        if let database = machine.database { write(database, to: &text) }
        text.write(
            .upstreamInfo,
            machine.upstreams.map { ([$0.app, $0.environment, $0.endpoint, $0.caFile], 1) })
        text.write(.cpu, machine.cpuSeconds)
        text.write(.residentMemory, machine.residentBytes)
        text.write(.openDescriptors, machine.openDescriptors)
        text.write(.mostDescriptors, machine.mostDescriptors)
        text.write(.startTime, machine.startedAt)
    }
}
