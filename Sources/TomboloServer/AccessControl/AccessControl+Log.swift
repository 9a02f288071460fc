package import TomboloCore
package import TomboloEventLog

extension AccessControl {
    /// Mints a key directly into a log, for `tombolo key mint --data DIR`. Returns after the key is
    /// durable. The log's lock makes sure that no relay runs on it.
    package static func mint(
        into log: any EventLog, pepper: Pepper, environment: String, tenant: TenantID,
        scopes: ScopeSet, binding: KeyBinding = .none, traits: KeyTraits = KeyTraits(),
        now: Instant
    ) async throws(EventLogError) -> MintedKey {
        let access = AccessControl(pepper: pepper, records: try await records(in: log))
        let minted = access.mint(
            environment: environment, tenant: tenant, scopes: scopes, binding: binding,
            traits: traits, now: now)
        var batch = AppendBatch()
        batch.records = [
            Record(space: .key, number: minted.record.number, value: minted.encoded)
        ]
        _ = try await log.append(batch)
        return minted
    }

    /// The keys of all tenants that are valid at `now`, oldest first. Reads a log on which no relay
    /// runs; for `tombolo backup restore`.
    package static func keysThatOpen(
        in log: any EventLog, at now: Instant
    ) async throws(EventLogError) -> [KeyRecord] {
        // Listing keys does not need the real pepper.
        let access = AccessControl(pepper: Pepper(), records: try await records(in: log))
        return access.keys.values.filter { !$0.isExpired(at: now) }
            .sorted { $0.number < $1.number }
    }

    /// The number of keys in a log without a running relay.
    package static func keyCount(in log: any EventLog) async throws(EventLogError) -> Int {
        try await records(in: log).count { $0.number != KeyOrder.number }
    }

    private static func records(
        in log: any EventLog
    ) async throws(EventLogError) -> [(number: Int64, value: [UInt8])] {
        // Read idempotency keys of all times: this list must not make the log forget any.
        let recovered = try await log.recover(idempotencySince: .distantPast)
        return recovered.records.compactMap { record in
            record.space == .key ? record.value.map { (number: record.number, value: $0) } : nil
        }
    }
}
