import TomboloJSON

/// Registered types of all tenants.
struct TypeTable: Sendable {
    /// More types of one tenant are refused.
    static let countMax = 1_000

    private var byKey: [ActivityType.Key: RegisteredType] = [:]
    private var nextNumber: Int64 = 1
    /// The state that was looked at last for what of it is visible.
    var lastVisible: VisibleState?

    init() {}

    /// Whether any type has a value that follows where apps are.
    private(set) var hasBindings = false

    /// Most relays have none: then nothing is looked up.
    var isEmpty: Bool { byKey.isEmpty }

    subscript(key: ActivityType.Key) -> ActivityType? { isEmpty ? nil : byKey[key]?.type }

    /// The type of an activity, where it is registered.
    func type(of definition: Activity.Definition, _ tenant: TenantID) -> ActivityType? {
        guard !isEmpty else { return nil }
        return self[.init(tenant: tenant, app: definition.app, name: definition.type)]
    }

    /// The state as the phone's type decodes it.
    func encoded(
        _ state: JSON, _ definition: Activity.Definition, _ tenant: TenantID
    ) -> JSON {
        type(of: definition, tenant)?.encoded(state) ?? state
    }

    /// Whether a phone that reports a state shows another one, but for what follows where the app
    /// is: that is each device's own.
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

    /// One more type is refused where its tenant has as many as it may.
    func check(_ key: ActivityType.Key) throws(Refusal) {
        guard byKey[key] != nil || keys(of: key.tenant).count < Self.countMax else {
            throw Refusal(
                .limitReached,
                "there are \(Self.countMax) types already, as many as a tenant may have")
        }
    }

    /// Registers a type, in the place of the one that has its key. Answers its record, and the one
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

    /// Takes over a record of the last relay. Answers what is wrong with it.
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
