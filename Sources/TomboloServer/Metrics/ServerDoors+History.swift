import TomboloAPI
import TomboloCore
import TomboloEventLog
import TomboloJSON
import TomboloLoop
import TomboloRelay

// What was in the last hour: figures from memory, and moments from the log.

extension ServerDoors {
    /// Maximum length of a history.
    static let historyMax = Span.hours(1)
    /// Maximum number of moments in an answer; the newest are kept.
    static let momentsMax = 200

    /// Facts that an operator looks for when something has changed.
    private static let momentKinds: Set<String> = [
        "relay.started", "relay.stopped", "config.reloaded", "pause.began", "pause.ended",
        "key.minted", "key.rotated", "key.removed", "upstream.closed", "upstream.open",
        "upstream.retried", "clock.behind", "clock.right", "disk.full", "disk.has_room", "log.full",
        "log.has_room", "log.unavailable", "log.answers", "erased", "dead-letters.retried",
    ]
    /// Members of such a fact that say what it was about; the first that it has counts.
    private static let aboutNames = [
        "app", "activity", "device", "type", "pause", "key", "reason",
    ]

    /// Adds a point to the history every ten seconds, until its task is cancelled.
    package func keepHistory() async throws {
        while true {
            await addToHistory()
            try await loop.sleep(for: .nanoseconds(HistoryMemory.step.nanoseconds))
        }
    }

    /// Adds a point of the whole relay and of each tenant.
    func addToHistory() async {
        let waiting = await relay.waitingCounts()
        var (all, each) = (HistoryMemory.Totals(), [TenantID: HistoryMemory.Totals]())
        for tenant in await relay.tenants {
            let totals = await totals(of: tenant, waiting: waiting[tenant] ?? 0)
            each[tenant] = totals
            all.accepted += totals.accepted
            all.refused += totals.refused
            all.sent += totals.sent
            all.waiting += totals.waiting
            all.closed += totals.closed
            all.answered.merge(totals.answered)
        }
        all.refused += requests.refused[nil] ?? 0
        if let machine = machine?() {
            (all.cpuSeconds, all.residentBytes) = (machine.cpuSeconds, machine.residentBytes)
        }
        history.add(all, of: each, at: await relay.wallNow())
    }

    private func totals(of tenant: TenantID, waiting: Int) async -> HistoryMemory.Totals {
        let counters = await relay.counters(of: tenant)
        var totals = HistoryMemory.Totals()
        (totals.accepted, totals.refused) = (
            counters.eventsAccepted, requests.refused[tenant] ?? 0
        )
        (totals.sent, totals.waiting) = (counters.pushesSent, waiting)
        for upstream in await relay.upstreams(of: tenant) {
            totals.answered.merge(upstream.meter.eventToAnswered)
            if upstream.isClosed { totals.closed += 1 }
        }
        return totals
    }

    /// The length of the history that a request asks for; nil: none.
    func historyAsked(_ request: DoorRequest) throws(Problem) -> Span? {
        guard let text = request.target["history"] else { return nil }
        guard let span = Span(text: text, atMost: Self.historyMax), span > .zero else {
            throw Problem(
                .invalidQuery,
                "history=\(text) must be a duration of at most \(Self.historyMax.text), such as 10m."
            )
        }
        return span
    }

    /// The history that this key may see: of the whole relay if it operates the relay or is alone
    /// on it, else of its tenant.
    func history(of principal: Principal, _ span: Span) async throws(Problem) -> HistoryAnswer {
        let tenant = principal.tenant
        let isAlone = await relay.isAlone(tenant)
        let isWhole = principal.operatesRelay || isAlone
        let since = await relay.wallNow() - span
        return HistoryAnswer(
            step: HistoryMemory.step, isWhole: isWhole,
            points: history.points(of: isWhole ? nil : tenant, since: since),
            moments: try await moments(of: tenant))
    }

    /// The newest moments of a tenant, oldest first. They are in the log, so a restart keeps them.
    private func moments(of tenant: TenantID) async throws(Problem) -> [HistoryAnswer.Moment] {
        var query = FactQuery(tenant: tenant)
        (query.order, query.limit) = (.newestFirst, Self.momentsMax)
        query.kinds = Self.momentKinds
        return try await facts(query).facts.reversed().map { recorded in
            let view = (try? JSONDocument(recorded.fact.body))?.root  // the relay wrote it
            let about = Self.aboutNames.lazy.compactMap { view?[$0]?.string }.first
            return HistoryAnswer.Moment(
                at: recorded.fact.recordedAt, kind: recorded.fact.kind, seq: recorded.seq,
                about: about)
        }
    }
}
