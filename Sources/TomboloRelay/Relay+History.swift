package import TomboloCore
package import TomboloEventLog
import TomboloJSON
import TomboloLoop

// What happens to the relay itself is history, too: it explains what phones did not get.

extension Relay {
    /// Reports something to the operator, and keeps it as a fact of a tenant.
    func report(_ note: OperatorNote, of tenant: TenantID) {
        report(note)
        learn(note.event.fact, of: tenant, note)
    }

    /// It takes events from now on. Where no `relay.stopped` is before it, the relay before it was
    /// killed, and what it did in its last seconds may not be on record.
    func noteStart() { learn("relay.started", of: .main, nil) }

    /// Nothing comes after it.
    func noteStop() { learn("relay.stopped", of: .main, nil) }

    private func learn(_ kind: String, of tenant: TenantID, _ note: OperatorNote?) {
        var writer = JSONWriter()
        writer.beginObject()
        for field in note?.fields ?? [] { writer.member(field.name, field.value) }
        if let note { writer.member("text", note.text) }
        writer.endObject()
        core.learn(kind, of: tenant, writer.bytes, now: steadyNow())
    }

    /// Returns when every fact that is known now is durable; where the log takes its time, after a
    /// second.
    package func settleFacts() async {
        let known = core.knownFactSeq
        guard phase == .running, core.lastFactSeq < known else { return }
        // Many who ask share a commit: each would else cost one of its own.
        let now = steadyNow()
        settledAt = Self.settling(now: now, last: settledAt)
        core.writeFacts(at: settledAt)
        put(.tick)
        let deadline = loop.now + .seconds(1)
        while phase == .running, core.lastFactSeq < known, loop.now < deadline, !Task.isCancelled {
            await watch(until: deadline)
        }
    }

    /// Facts that somebody follows are written so soon: within 100 ms, with the time of the disk.
    static let followedWithin = Span.milliseconds(50)

    /// Whose device an action was done on, while that device is still theirs; nil for other facts.
    package func owner(of fact: NewFact) -> String? {
        guard fact.kind == DeviceAction.factKind,
            let body = try? JSONDocument(fact.body),  // what is damaged has no owner
            let owner = body.root["owner"]?.integer, let recipient = Recipient(body.root),
            let user = device(DeviceKey(tenant: fact.tenant, id: recipient.name))?.registration
                .user,
            core.deliveryIDs.owner(user, fact.tenant) == owner
        else { return nil }
        return user
    }

    /// What was left out of a tenant's history since the history said so last, as it will say it.
    package func comingThinning(of tenant: TenantID) -> NewFact? {
        read { core, now in core.comingThinning(of: tenant, now: now) }
    }

    /// When what is known is written for somebody who asks now: with the write that is due already,
    /// else 100 ms after the last one at the earliest.
    static func settling(now: Instant, last: Instant) -> Instant {
        last > now ? last : max(now, last + .milliseconds(100))
    }

    /// One fact of a tenant, by its place among those of the tenant.
    package nonisolated(nonsending) func fact(
        tenantSeq: Int64, tenant: TenantID
    ) async throws(EventLogError) -> RecordedFact? {
        try await log.fact(tenantSeq: tenantSeq, tenant: tenant)
    }

    /// What is on record of a push: its newest fact; nil where there is none.
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

    /// An answer comes some 30 s after its push at the latest: behind that many facts of others.
    private static let pushScanMax = 100_000

    /// How many facts of a tenant are at a place of the log, or a few less.
    private func tenantPlace(
        of seq: Int64, tenant: TenantID
    ) async throws(EventLogError) -> Int64 {
        var newest = FactQuery(tenant: tenant)
        (newest.order, newest.limit) = (.newestFirst, 1)
        guard let last = try await log.facts(newest).facts.first else { return 0 }
        var (low, high) = (Int64(0), last.tenantSeq + 1)
        while low + 1 < high {
            let middle = low + (high - low) / 2
            // What was cut is older than all that is asked for.
            let fact = try await log.fact(tenantSeq: middle, tenant: tenant)
            if fact.map({ $0.seq <= seq }) ?? true { low = middle } else { high = middle }
        }
        return low
    }
}

extension OperatorNote.Event {
    /// The kind of its fact: `disk.full`, `upstream.closed`, `log.has_room`.
    var fact: String {
        let words = rawValue.split(separator: "-", maxSplits: 1).map { String($0) }
        return words.map { $0.split(separator: "-").joined(separator: "_") }
            .joined(separator: ".")
    }
}
