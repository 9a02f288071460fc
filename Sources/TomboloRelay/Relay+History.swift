package import TomboloCore
package import TomboloEventLog
import TomboloJSON
import TomboloLoop

// The relay's own events are recorded as facts too: they explain missing deliveries.

extension Relay {
    /// Reports something to the operator, and records it as a fact of a tenant.
    func report(_ note: OperatorNote, of tenant: TenantID) {
        report(note)
        learn(note.event.fact, of: tenant, note)
    }

    /// Records that the relay takes events. If no `relay.stopped` precedes it, the previous relay
    /// was killed, and its last seconds may not be recorded.
    func noteStart() { learn("relay.started", of: .main, nil) }

    /// Records that the relay stops. No fact follows it.
    func noteStop() { learn("relay.stopped", of: .main, nil) }

    private func learn(_ kind: String, of tenant: TenantID, _ note: OperatorNote?) {
        var writer = JSONWriter()
        writer.beginObject()
        for field in note?.fields ?? [] { writer.member(field.name, field.value) }
        if let note { writer.member("text", note.text) }
        writer.endObject()
        core.learn(kind, of: tenant, writer.bytes, now: steadyNow())
    }

    /// Returns when every fact known now is durable, or after a second if the log is slow.
    package func settleFacts() async {
        let known = core.knownFactSeq
        guard phase == .running, core.lastFactSeq < known else { return }
        // Concurrent callers share a commit.
        let now = steadyNow()
        settledAt = Self.settling(now: now, last: settledAt)
        core.writeFacts(at: settledAt)
        put(.tick)
        let deadline = loop.now + .seconds(1)
        while phase == .running, core.lastFactSeq < known, loop.now < deadline, !Task.isCancelled {
            await watch(until: deadline)
        }
    }

    /// Facts are written this soon if a follower waits for them: within 100 ms, including the disk.
    static let followedWithin = Span.milliseconds(50)

    /// The user on whose device an action happened, if it is still theirs; nil for other facts.
    package func owner(of fact: NewFact) -> String? {
        guard fact.kind == DeviceAction.factKind,
            let body = try? JSONDocument(fact.body),  // a damaged fact has no owner
            let owner = body.root["owner"]?.integer, let recipient = Recipient(body.root),
            let user = device(DeviceKey(tenant: fact.tenant, id: recipient.name))?.registration
                .user,
            core.deliveryIDs.owner(user, fact.tenant) == owner
        else { return nil }
        return user
    }

    /// The next fact about facts that were left out of a tenant's history; nil if none were.
    package func comingThinning(of tenant: TenantID) -> NewFact? {
        read { core, now in core.comingThinning(of: tenant, now: now) }
    }

    /// When known facts are written for a caller who waits: with the write that is already due, or
    /// else at least 100 ms after the last one.
    static func settling(now: Instant, last: Instant) -> Instant {
        last > now ? last : max(now, last + .milliseconds(100))
    }

    /// One fact of a tenant, by its place among the tenant's facts.
    package nonisolated(nonsending) func fact(
        tenantSeq: Int64, tenant: TenantID
    ) async throws(EventLogError) -> RecordedFact? {
        try await log.fact(tenantSeq: tenantSeq, tenant: tenant)
    }

    /// The newest fact about a push; nil if there is none.
    package func deliveryFact(
        _ push: APNsID, tenant: TenantID
    ) async throws(EventLogError) -> RecordedFact? {
        let ids = read { core, _ in (core.deliveryIDs, core.lastFactSeq) }
        guard let place = ids.0.place(of: push), place <= ids.1 else { return nil }
        var query = FactQuery(tenant: tenant)
        query.after = try await tenantPlace(of: place, tenant: tenant)
        query.kinds = DeliveryRecord.kinds
        query.limit = 1_000
        var looked = 0
        while true {
            let page = try await log.facts(query)
            for fact in page.facts where DeliveryRecord(fact.fact)?.attempt?.apnsID == push {
                return fact
            }
            looked += max(1, page.facts.count)
            guard let next = page.next, looked < Self.pushScanMax else { return nil }
            query.goOn(at: next)
        }
    }

    /// Facts to search: an answer comes about 30 s after its push at the latest, with at most this
    /// many other facts between.
    private static let pushScanMax = 100_000

    /// The number of a tenant's facts up to a place of the log, or slightly fewer.
    private func tenantPlace(
        of seq: Int64, tenant: TenantID
    ) async throws(EventLogError) -> Int64 {
        var newest = FactQuery(tenant: tenant)
        (newest.order, newest.limit) = (.newestFirst, 1)
        guard let last = try await log.facts(newest).facts.first else { return 0 }
        var (low, high) = (Int64(0), last.tenantSeq + 1)
        while low + 1 < high {
            let middle = low + (high - low) / 2
            // Facts that were cut are older than the requested ones.
            let fact = try await log.fact(tenantSeq: middle, tenant: tenant)
            if fact.map({ $0.seq <= seq }) ?? true { low = middle } else { high = middle }
        }
        return low
    }
}

extension OperatorNote.Event {
    /// Kind of the event's fact:
    var fact: String {
        let words = rawValue.split(separator: "-", maxSplits: 1).map { String($0) }
        return words.map { $0.split(separator: "-").joined(separator: "_") }
            .joined(separator: ".")
    }
}
