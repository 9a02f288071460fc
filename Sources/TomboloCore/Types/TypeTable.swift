import TomboloJSON

/// The registered types of all tenants.
struct TypeTable: Sendable {
    /// Types of one tenant, at most.
    static let countMax = 1_000

    private var byKey: [ActivityType.Key: RegisteredType] = [:]
    private var nextNumber: Int64 = 1
    /// The visible part of the state that was last looked at.
    var lastVisible: VisibleState?

    init() {}

    /// Whether any type has a value that follows the app's presence.
    private(set) var hasBindings = false

    /// Most relays have no types: nothing is looked up then.
    var isEmpty: Bool { byKey.isEmpty }

    subscript(key: ActivityType.Key) -> ActivityType? { isEmpty ? nil : byKey[key]?.type }

    /// The type of an activity, if it is registered.
    func type(of definition: Activity.Definition, _ tenant: TenantID) -> ActivityType? {
        guard !isEmpty else { return nil }
        return self[.init(tenant: tenant, app: definition.app, name: definition.type)]
    }

    /// The state in the form that the phone's type decodes.
    func encoded(
        _ state: JSON, _ definition: Activity.Definition, _ tenant: TenantID
    ) -> JSON {
        type(of: definition, tenant)?.encoded(state) ?? state
    }

    /// Whether a phone reports the same state, without the value that follows the app's presence,
    /// because that differs by device.
    func isSame(
        _ reported: JSON, as state: JSON, _ definition: Activity.Definition, _ tenant: TenantID
    ) -> Bool {
        guard hasBindings, let binding = type(of: definition, tenant)?.presence else {
            return reported.isSameValue(as: state)
        }
        return binding.write(binding.active, into: reported)
            .isSameValue(as: binding.write(binding.active, into: state))
    }

    /// The keys of a tenant's types.
    func keys(of tenant: TenantID) -> [ActivityType.Key] {
        byKey.keys.filter { $0.tenant == tenant }
    }

    /// Refuses one more type if its tenant has the maximum.
    func check(_ key: ActivityType.Key) throws(Refusal) {
        guard byKey[key] != nil || keys(of: key.tenant).count < Self.countMax else {
            throw Refusal(
                .limitReached,
                "there are \(Self.countMax) types already, as many as a tenant may have")
        }
    }

    /// Registers a type, and replaces the one with the same key. Returns its record and the type
    /// before.
    mutating func put(
        _ type: ActivityType, _ key: ActivityType.Key
    ) -> (record: Record, before: ActivityType?) {
        let known = byKey[key]
        let registered = RegisteredType(number: known?.number ?? nextNumber, type: type)
        if known == nil { nextNumber += 1 }
        byKey[key] = registered
        hasBindings = hasBindings || type.presence != nil
        lastVisible = nil
        return (registered.record(key), known?.type)
    }

    /// Restores a type from its record. Returns what is wrong with the record.
    mutating func adopt(_ record: Record) -> [String] {
        nextNumber = max(nextNumber, record.number + 1)
        guard let value = record.value else { return [] }
        guard let (key, type) = RegisteredType.read(value, number: record.number) else {
            return ["the record of type number \(record.number) cannot be read"]
        }
        byKey[key] = type
        hasBindings = hasBindings || type.type.presence != nil
        return []
    }
}
