import TomboloCore
import TomboloEventLog
import TomboloJSON
import TomboloRelay

// The delivery history says what the books count.

extension World {
    /// Each version that a destination has decided is on record. Where no relay was killed, the
    /// records come to the very counts of the books.
    ///
    /// - Returns: so many records at least were left out, where tenants share the history.
    func checkHistory(_ relay: Relay, _ key: ActivityKey, _ views: [LedgerView]) async -> Int64 {
        var leftOut: Int64 = 0
        // Of months the oldest facts are cut.
        guard plan.months == nil, let number = await relay.activity(key)?.number else { return 0 }
        for view in views where view.ledger.decidedThrough >= view.ledger.since {
            let (recipient, ledger) = (view.recipient, view.ledger)
            let records = await records(relay, key.tenant, number, recipient)
                .filter { $0.concerns(view.card) }
            // After a crash, or for a device that came back, a version may be decided twice.
            var last: [Int64: EventDecision] = [:]
            for record in records {
                for version in record.decided ?? 0...0 {
                    last[version] = record.decision(of: version)
                }
            }
            for version in ledger.since...ledger.decidedThrough where last[version] == nil {
                let place = DeliveryRecord.fate(of: version, in: records)
                last[version] = place.flatMap { records[$0].fate(of: version) }
            }
            var counts: [EventDecision: Int64] = [:]
            var isGap = false
            for version in ledger.since...ledger.decidedThrough {
                guard let decision = last[version] else {
                    guard plan.factRoom != nil else {
                        violated(
                            .ledger,
                            "\(key.id) at \(recipient.name): no record says what became of "
                                + "\(version)")
                        return 0
                    }
                    if !isGap { leftOut += 1 }
                    isGap = true
                    continue
                }
                isGap = false
                counts[decision, default: 0] += 1
            }
            if lives == 1, plan.factRoom == nil || faults.isDisjoint(with: Self.deciding) {
                compare(ledger, counts, "\(key.id) at \(recipient.name)")
            }
        }
        return leftOut
    }

    /// With these a device comes back, and may decide a version twice: of what is left out one
    /// cannot tell which time it was.
    private static let deciding: FaultSet = [
        FaultSet(.deletedDevices), FaultSet(.deletions), FaultSet(.secondIDs),
        FaultSet(.changedUsers),
    ]

    private func compare(
        _ ledger: TomboloCore.Ledger, _ found: [EventDecision: Int64], _ name: String
    ) {
        // A card that is gone has one line that goes on: over a version that was overtaken too,
        // where the line that says so is left out.
        let overtaken = ledger.counts.count(of: .superseded) - (found[.superseded] ?? 0)
        for decision in EventDecision.allCases {
            var counted = ledger.counts.count(of: decision)
            let count = found[decision] ?? 0
            if plan.factRoom != nil, decision == .noRoute || decision == .onChannel {
                counted += min(max(0, overtaken), max(0, count - counted))
            }
            // What Apple answered is never left out.
            let isDetail = decision != .sent && decision != .refused
            guard plan.factRoom != nil && isDetail ? count > counted : count != counted else {
                continue
            }
            violated(.ledger, "\(name): \(count) \(decision) on record, \(counted) counted")
        }
    }

    /// What is missing was left out, the history says so, and there was no room for it.
    ///
    /// - Parameter missing: so many records at least.
    func checkThinning(_ relay: Relay, _ tenant: TenantID, missing: Int64) async {
        guard plan.months == nil else { return }
        var (said, bytes, before) = (Int64(0), Int64(0), Int64?.none)
        var query = FactQuery(tenant: tenant)
        query.limit = 1_000
        do {
            while true {
                let page = try await relay.facts(query)
                for fact in page.facts.map(\.fact) {
                    bytes += NewFact.bytes(kind: fact.kind.utf8.count, body: fact.body.count)
                    guard fact.kind == "history.thinned" else { continue }
                    before = before ?? bytes
                    said += Self.changes(fact)
                }
                guard let next = page.next else { break }
                query.goOn(at: next)
            }
        } catch {
            return violated(.ledger, "the history cannot be read: \(error)")
        }
        said += await relay.read { core, now in
            core.comingThinning(of: tenant, now: now).map(Self.changes) ?? 0
        }
        // A relay that is killed takes the counts of a minute with it, but not the first.
        if lives == 1 ? missing > said : missing > 0 && before == nil {
            violated(.ledger, "\(tenant.name): \(missing) records are missing, \(said) left out")
        }
        guard let before else { return }
        // Half of a burst is a tenant's. What is erased is not counted any more.
        let isErased = faults.contains(FaultSet(.deletedDevices))
        let least = isErased ? 0 : (plan.factRoom?.bytes ?? 0) / 8
        if before < least {
            violated(.ledger, "\(tenant.name): thinned after \(before) bytes, not \(least)")
        }
    }

    private static func changes(_ thinned: NewFact) -> Int64 {
        // What cannot be read counts nothing: then records are missing.
        guard let members = (try? JSONDocument(thinned.body))?.root["left_out"]?.members else {
            return 0
        }
        return members.reduce(0) { sum, entry in
            DeliveryRecord.kinds.contains(entry.name) ? sum + (entry.value.integer ?? 0) : sum
        }
    }

    private func records(
        _ relay: Relay, _ tenant: TenantID, _ number: ActivityNumber,
        _ recipient: Recipient
    ) async -> [DeliveryRecord] {
        var query = FactQuery(tenant: tenant)
        (query.activity, query.recipient) = (number, recipient)
        query.kinds = DeliveryRecord.kinds
        query.limit = 1_000
        var found: [DeliveryRecord] = []
        do {
            while true {
                let page = try await relay.facts(query)
                found += page.facts.compactMap { DeliveryRecord($0.fact) }
                guard let next = page.next else { return found }
                query.goOn(at: next)
            }
        } catch {
            violated(.ledger, "the history cannot be read: \(error)")
            return found
        }
    }
}
