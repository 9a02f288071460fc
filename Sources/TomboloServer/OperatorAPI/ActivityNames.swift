import TomboloAPI
import TomboloCore
import TomboloEventLog
import TomboloRelay

/// Finds the names of activities for the numbers in the log's rows, and caches them.
struct ActivityNames {
    /// Maximum number of cached names: a tail may run for ever.
    private static let namesMax = 10_000
    /// If an activity has more destinations than this, other tasks on the loop run first.
    private static let audienceMax = 64

    let tenant: TenantID
    private var names: [ActivityNumber: Identifier] = [:]
    private var types: [ActivityNumber: String] = [:]

    init(tenant: TenantID) { self.tenant = tenant }

    mutating func name(of number: ActivityNumber, _ relay: Relay) async -> Identifier? {
        if let name = names[number] { return name }
        let name = await relay.activityName(number, tenant: tenant)
        if names.count >= Self.namesMax { names.removeAll() }
        names[number] = name
        return name
    }

    /// The type of the activity's newest start. A start after an end may change the type.
    mutating func type(of number: ActivityNumber, _ relay: Relay) async -> String? {
        if let type = types[number] { return type }
        guard let name = await name(of: number, relay) else { return nil }
        let type = await relay.activity(ActivityKey(tenant: tenant, id: name))?.type
        if types.count >= Self.namesMax { types.removeAll() }
        types[number] = type
        return type
    }

    /// The commands that match the filter, in order.
    mutating func entries(
        _ events: [RecordedEvent], _ relay: Relay, _ filter: LogFilter, only id: Identifier? = nil
    ) async -> [LogEntry] {
        var entries: [LogEntry] = []
        let devices = await filter.devices(relay, tenant: tenant)
        for event in events {
            let number = event.event.activity
            let name = await name(of: number, relay)
            guard id == nil || name == id,
                await takes(number, relay, filter),
                await goes(name, to: devices, relay)
            else { continue }
            entries.append(.command(event, activity: name))
        }
        return entries
    }

    /// The facts that match the filter, in order.
    ///
    /// - Parameter tellsGaps: true adds entries for facts that the relay did not keep.
    mutating func entries(
        _ facts: [RecordedFact], _ relay: Relay, _ filter: LogFilter, only id: Identifier? = nil,
        tellsGaps: Bool = false
    ) async -> [LogEntry] {
        var entries: [LogEntry] = []
        let devices = await filter.devices(relay, tenant: tenant)
        for fact in facts {
            if tellsGaps, fact.fact.kind == NewFact.thinned {
                entries.append(.thinned(fact))
                continue
            }
            guard filter.takes(fact.fact, devices) else { continue }
            let user = await relay.owner(of: fact.fact)
            // An action belongs to the device's user at its time: skip actions of other users.
            if let wanted = filter.user, fact.fact.kind == DeviceAction.factKind,
                !isSameText(user, wanted)
            {
                continue
            }
            guard let number = fact.fact.activity else {
                guard id == nil, filter.type == nil else { continue }
                entries.append(.fact(fact, activity: nil, user: user))
                continue
            }
            let name = await name(of: number, relay)
            guard id == nil || name == id, await takes(number, relay, filter) else { continue }
            entries.append(.fact(fact, activity: name, user: user))
        }
        return entries
    }

    private mutating func takes(
        _ number: ActivityNumber, _ relay: Relay, _ filter: LogFilter
    ) async -> Bool {
        guard let type = filter.type else { return true }
        return isSameText(await self.type(of: number, relay), type)
    }

    /// True if the activity has one of the devices among its destinations now.
    private func goes(
        _ name: Identifier?, to devices: Set<Identifier>?, _ relay: Relay
    ) async -> Bool {
        guard let devices else { return true }
        guard let name else { return false }
        let view = await relay.activity(ActivityKey(tenant: tenant, id: name))
        // Searching a large audience takes time: let other tasks run first.
        if view?.destinations.count ?? 0 > Self.audienceMax { await relay.letOthersGo() }
        return view?.destinations.contains {
            if case .device(let device) = $0.recipient { devices.contains(device) } else { false }
        } ?? false
    }

    mutating func delivery(_ fact: RecordedFact, _ relay: Relay) async -> DeliveryEntry? {
        guard let number = fact.fact.activity else { return nil }
        return DeliveryEntry(fact, activity: await name(of: number, relay))
    }
}
