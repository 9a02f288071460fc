import TomboloAPI
import TomboloCore
import TomboloEventLog
import TomboloRelay

/// Names of activities for the numbers in the log's rows, asked for once each.
struct ActivityNames {
    /// A tail may run for ever: its memory of names does not grow with it.
    private static let namesMax = 10_000

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

    /// The activity's type. A start after an end may change it: then the newest is told.
    mutating func type(of number: ActivityNumber, _ relay: Relay) async -> String? {
        if let type = types[number] { return type }
        guard let name = await name(of: number, relay) else { return nil }
        let type = await relay.activity(ActivityKey(tenant: tenant, id: name))?.type
        if types.count >= Self.namesMax { types.removeAll() }
        types[number] = type
        return type
    }

    mutating func entries(_ events: [RecordedEvent], _ relay: Relay) async -> [LogEntry] {
        var entries: [LogEntry] = []
        for event in events {
            entries.append(
                .command(event, activity: await name(of: event.event.activity, relay)))
        }
        return entries
    }

    mutating func entries(_ facts: [RecordedFact], _ relay: Relay) async -> [LogEntry] {
        var entries: [LogEntry] = []
        for fact in facts {
            var name: Identifier?
            if let number = fact.fact.activity { name = await self.name(of: number, relay) }
            entries.append(.fact(fact, activity: name))
        }
        return entries
    }

    /// A line of the delivery history; nil where the fact is none.
    mutating func delivery(_ fact: RecordedFact, _ relay: Relay) async -> DeliveryEntry? {
        guard let number = fact.fact.activity else { return nil }
        return DeliveryEntry(fact, activity: await name(of: number, relay))
    }
}
