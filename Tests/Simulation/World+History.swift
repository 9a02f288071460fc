import TomboloCore
import TomboloEventLog
import TomboloRelay

// The delivery history says what the books count.

extension World {
    /// Each version that a destination has decided is on record. Where no relay was killed, the
    /// records come to the very counts of the books.
    func checkHistory(_ relay: Relay, _ key: ActivityKey, _ views: [LedgerView]) async {
        // Of months the oldest facts are cut.
        guard plan.months == nil, let number = await relay.activity(key)?.number else { return }
        for device in Set(views.map(\.device)).sorted() {
            let own = views.filter { $0.device == device }
            guard let ledger = own.first?.ledger, own.count == 1,
                ledger.decidedThrough >= ledger.since
            else { continue }
            let records = await records(relay, key.tenant, number, device)
            // After a crash, or for a device that came back, a version may be decided twice.
            var last: [Int64: EventDecision] = [:]
            for record in records {
                for version in record.decided ?? 0...0 {
                    last[version] = record.decision(of: version)
                }
            }
            var counts: [EventDecision: Int64] = [:]
            for version in ledger.since...ledger.decidedThrough {
                guard let decision = last[version] else {
                    violated(
                        .ledger, "\(key.id) at \(device): no record says what became of \(version)")
                    return
                }
                counts[decision, default: 0] += 1
            }
            let books = EventDecision.allCases.map { ledger.counts.count(of: $0) }
            let found = EventDecision.allCases.map { counts[$0] ?? 0 }
            if lives == 1, books != found {
                violated(.ledger, "\(key.id) at \(device): on record \(found), counted \(books)")
            }
        }
    }

    private func records(
        _ relay: Relay, _ tenant: TenantID, _ number: ActivityNumber, _ device: Identifier
    ) async -> [DeliveryRecord] {
        var query = FactQuery(tenant: tenant)
        (query.activity, query.device, query.kinds) = (number, device, DeliveryRecord.kinds)
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
