package import TomboloCore
package import TomboloEventLog
import TomboloJSON
import TomboloLoop

// The relay's own events are recorded as facts, because they explain missing deliveries.

extension Relay {
    func report(_ note: OperatorNote, of tenant: TenantID) {
        report(note)
        learn(note.event.fact, of: tenant, note)
    }

    /// Records that the relay accepts events now. If no `relay.stopped` comes before this fact, the
    /// previous process was killed, and its last seconds may not be recorded.
    func noteStart() { learn("relay.started", of: .main, nil) }

    /// Records that the relay stops. No other fact follows.
    func noteStop() { learn("relay.stopped", of: .main, nil) }

    private func learn(_ kind: String, of tenant: TenantID, _ note: OperatorNote?) {
        let body = JSON.object { writer in
            for field in note?.fields ?? [] { writer.member(field.name, field.value) }
            if let note { writer.member("text", note.text) }
        }
        core.learn(kind, of: tenant, body.bytes, now: steadyNow())
    }

    /// Returns when all facts known now are durable, or after a second if the log is slow.
    package func settleFacts() async {
        let known = core.knownFactSeq
        guard phase == .running, core.lastFactSeq < known else { return }
        // Callers at the same time share a commit.
        let now = steadyNow()
        settledAt = Self.settling(now: now, last: settledAt)
        core.writeFacts(at: settledAt)
        put(.tick)
        let deadline = loop.now + .seconds(1)
        while phase == .running, core.lastFactSeq < known, loop.now < deadline, !Task.isCancelled {
            await watch(until: deadline)
        }
    }

    /// If a follower waits for facts, they are written within this time. With the disk, they are
    /// visible within 100 ms.
    static let followedWithin = Span.milliseconds(50)

    /// For an action: the device's user, if it is still the user who acted. Otherwise nil.
    package func owner(of fact: NewFact) -> String? {
        guard fact.kind == DeviceAction.factKind,
            let body = try? JSONDocument(fact.body),  // a damaged body has no owner
            let owner = body.root["owner"]?.integer, let recipient = Recipient(body.root),
            let user = device(DeviceKey(tenant: fact.tenant, id: recipient.name))?.registration
                .user,
            core.deliveryIDs.owner(user, fact.tenant) == owner
        else { return nil }
        return user
    }

    /// When to write facts for a caller that waits: with the next write if one is due, else at
    /// least 100 ms after the last one.
    static func settling(now: Instant, last: Instant) -> Instant {
        last > now ? last : max(now, last + .milliseconds(100))
    }

    /// One fact of a tenant, by its place among the tenant's facts.
    package nonisolated(nonsending) func fact(
        tenantSeq: Int64, tenant: TenantID
    ) async throws(EventLogError) -> RecordedFact? {
        try await log.fact(tenantSeq: tenantSeq, tenant: tenant)
    }

    /// The newest fact about a push; nil if it is unknown or not written yet.
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

    /// Maximum number of facts that are searched. Apple's answer comes at most about 30 s after its
    /// push, with at most this many other facts in between.
    private static let pushScanMax = 100_000

    /// The place, among the tenant's facts, of the last one up to sequence `seq`; it may be
    /// slightly too low.
    private func tenantPlace(
        of seq: Int64, tenant: TenantID
    ) async throws(EventLogError) -> Int64 {
        var newest = FactQuery(tenant: tenant)
        (newest.order, newest.limit) = (.newestFirst, 1)
        guard let last = try await log.facts(newest).facts.first else { return 0 }
        var (low, high) = (Int64(0), last.tenantSeq + 1)
        while low + 1 < high {
            let middle = low + (high - low) / 2
            // A missing fact was cut, so it is older than `seq`.
            let fact = try await log.fact(tenantSeq: middle, tenant: tenant)
            if fact.map({ $0.seq <= seq }) ?? true { low = middle } else { high = middle }
        }
        return low
    }
}

extension OperatorNote.Event {
    /// The kind of fact for this event:
    var fact: String {
        let words = rawValue.split(separator: "-", maxSplits: 1).map { String($0) }
        return words.map { $0.split(separator: "-").joined(separator: "_") }
            .joined(separator: ".")
    }
}
