/// The pauses in force, of all tenants, and the numbers for the next ones.
struct PauseTable: Sendable {
    private var inForce: [Int64: Pause] = [:]
    private var nextNumber: Int64 = 1
    /// The last serial of each tenant.
    private var serials: [TenantID: Int64] = [:]
    /// The number of the record that keeps a tenant's last serial after that pause is over.
    private var ended: [TenantID: Int64] = [:]

    init() {}

    var isEmpty: Bool { inForce.isEmpty }

    func contains(where matches: (Pause) -> Bool) -> Bool {
        inForce.values.contains(where: matches)
    }

    /// A tenant's pauses in force, oldest first.
    func pauses(of tenant: TenantID) -> [Pause] {
        inForce.values.filter { $0.tenant == tenant }.sorted { $0.number < $1.number }
    }

    /// The pause that the command would begin or end.
    func pause(
        of command: PauseCommand, _ tenant: TenantID, since: Instant
    ) throws(Refusal) -> Pause {
        switch command {
        case .pause(let request):
            let own = inForce.values.filter { $0.tenant == tenant }
            // A pause of everything is possible even if the tenant has `countMax` pauses.
            let isFirstOfAll =
                request.scope == .all
                && !own.contains { $0.scope == .all && $0.alertsOnly == request.alertsOnly }
            guard own.count < Pause.countMax || isFirstOfAll else {
                throw Refusal(
                    .limitReached,
                    "\(own.count) pauses are in force, as many as there may be; resume some first")
            }
            return Pause(
                number: nextNumber, serial: (serials[tenant] ?? 0) + 1, tenant: tenant,
                scope: request.scope,
                alertsOnly: request.alertsOnly, reason: request.reason, since: since)
        case .resume(let serial):
            let known = inForce.values.first { $0.tenant == tenant && $0.serial == serial }
            guard let known else {
                throw Refusal(
                    .unknownPause,
                    "no pause \"pause_\(serial)\"; GET /v1/pauses lists those in force")
            }
            return known
        }
    }

    /// A pause made by `pause` is in force. Returns the record to store.
    mutating func begin(_ pause: Pause) -> [Record] {
        nextNumber += 1
        serials[pause.tenant] = pause.serial
        inForce[pause.number] = pause
        return [Record(space: .pause, number: pause.number, value: pause.encoded())]
    }

    /// A pause is over. For a tenant's newest pause the serial stays on record, so that no later
    /// pause gets it, also after a restart. The record that kept the serial before is deleted.
    mutating func end(_ pause: Pause) -> [Record] {
        inForce[pause.number] = nil
        guard pause.serial == serials[pause.tenant] else {
            return [Record(space: .pause, number: pause.number, value: nil)]
        }
        let former = ended.updateValue(pause.number, forKey: pause.tenant)
        return (former.map { [Record(space: .pause, number: $0, value: nil)] } ?? [])
            + [Record(space: .pause, number: pause.number, value: pause.ended())]
    }

    /// Restores a pause from its record. Returns what is wrong with the record.
    mutating func adopt(_ record: Record) -> [String] {
        nextNumber = max(nextNumber, record.number + 1)
        guard let value = record.value else { return [] }
        if let (tenant, serial) = Pause.ended(record: value) {
            serials[tenant] = max(serials[tenant] ?? 0, serial)
            ended[tenant] = record.number
            return []
        }
        guard let pause = Pause(record: value, number: record.number) else {
            return ["the record of pause number \(record.number) cannot be read"]
        }
        inForce[pause.number] = pause
        serials[pause.tenant] = max(serials[pause.tenant] ?? 0, pause.serial)
        return []
    }
}
