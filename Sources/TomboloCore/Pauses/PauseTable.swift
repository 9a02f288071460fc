/// The active pauses of all tenants, and the numbers for the next ones.
struct PauseTable: Sendable {
    private var inForce: [Int64: Pause] = [:]
    private var nextNumber: Int64 = 1
    /// The last serial of each tenant.
    private var serials: [TenantID: Int64] = [:]
    /// The number of the record that stores a tenant's last serial after that pause is over.
    private var ended: [TenantID: Int64] = [:]

    init() {}

    var isEmpty: Bool { inForce.isEmpty }

    func contains(where matches: (Pause) -> Bool) -> Bool {
        inForce.values.contains(where: matches)
    }

    func pauses(of tenant: TenantID) -> [Pause] {
        inForce.values.filter { $0.tenant == tenant }.sorted { $0.number < $1.number }
    }

    /// The pause that the command would begin or end. Throws if it cannot.
    func pause(
        of command: PauseCommand, _ tenant: TenantID, since: Instant
    ) throws(Refusal) -> Pause {
        switch command {
        case .pause(let request):
            let own = inForce.values.filter { $0.tenant == tenant }
            // A first pause of all pushes is possible even if the tenant has `countMax` pauses.
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

    /// Begins a pause that `pause` has made. Returns the record to write.
    mutating func begin(_ pause: Pause) -> [Record] {
        nextNumber += 1
        serials[pause.tenant] = pause.serial
        inForce[pause.number] = pause
        return [Record(space: .pause, number: pause.number, value: pause.encoded())]
    }

    /// Ends a pause. The record of the tenant's newest pause stays, so that no later pause gets its
    /// serial, even after a restart; the older such record is deleted. Returns the records to
    /// write.
    mutating func end(_ pause: Pause) -> [Record] {
        inForce[pause.number] = nil
        guard pause.serial == serials[pause.tenant] else {
            return [Record(space: .pause, number: pause.number, value: nil)]
        }
        let former = ended.updateValue(pause.number, forKey: pause.tenant)
        return (former.map { [Record(space: .pause, number: $0, value: nil)] } ?? [])
            + [Record(space: .pause, number: pause.number, value: pause.ended())]
    }

    /// Restores a pause from its record. Returns a text if the record is damaged.
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
