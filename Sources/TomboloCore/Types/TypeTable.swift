import TomboloJSON

struct TypeTable: Sendable {
    /// Maximum number of types of one tenant.
    static let countMax = 1_000

    private var byKey: [ActivityType.Key: RegisteredType] = [:]
    private var nextNumber: Int64 = 1
    /// The last result of `Core.visibleHash`.
    var lastVisible: VisibleState?

    init() {}

    /// True if the relay writes something into the states of any type.
    private(set) var hasBindings = false

    /// True if there are no types, as at most relays: then nothing needs a look-up.
    var isEmpty: Bool { byKey.isEmpty }

    subscript(key: ActivityType.Key) -> ActivityType? { isEmpty ? nil : byKey[key]?.type }

    /// The type of an activity; nil if it is not registered.
    func type(of definition: Activity.Definition, _ tenant: TenantID) -> ActivityType? {
        guard !isEmpty else { return nil }
        return self[.init(tenant: tenant, app: definition.app, name: definition.type)]
    }

    func encoded(
        _ state: JSON, _ definition: Activity.Definition, _ tenant: TenantID
    ) -> JSON {
        type(of: definition, tenant)?.encoded(state) ?? state
    }

    /// True if a phone reports this state, by the rules of its app's program. The value of the
    /// presence binding may differ, because each device has its own.
    func isSame(
        _ reported: JSON, as state: JSON, _ definition: Activity.Definition, _ tenant: TenantID
    ) -> Bool {
        if reported.isSameValue(as: state) { return true }
        let type = type(of: definition, tenant)
        let (one, other) = (type?.neutral(reported) ?? reported, type?.neutral(state) ?? state)
        return StateSchema.isGivenBack(
            one.document.root, for: other.document.root, by: type?.state)
    }

    /// The version that a phone's state contains; nil if its type has no place for it.
    func version(
        in reported: JSON, _ definition: Activity.Definition, _ tenant: TenantID
    ) -> Int64? {
        guard hasBindings, let place = type(of: definition, tenant)?.versionAt else { return nil }
        return reported.document.root.at(place)?.integer
    }

    func keys(of tenant: TenantID) -> [ActivityType.Key] {
        byKey.keys.filter { $0.tenant == tenant }
    }

    /// Throws if the tenant already has the maximum number of types.
    func check(_ key: ActivityType.Key) throws(Refusal) {
        guard byKey[key] != nil || keys(of: key.tenant).count < Self.countMax else {
            throw Refusal(
                .limitReached,
                "there are \(Self.countMax) types already, as many as a tenant may have")
        }
    }

    /// Registers a type, replacing that with the same key. Returns the record to write, and the
    /// replaced type.
    mutating func put(
        _ type: ActivityType, _ key: ActivityType.Key
    ) -> (record: Record, before: ActivityType?) {
        let known = byKey[key]
        let registered = RegisteredType(number: known?.number ?? nextNumber, type: type)
        if known == nil { nextNumber += 1 }
        byKey[key] = registered
        hasBindings = hasBindings || type.presence != nil || type.versionAt != nil
        lastVisible = nil
        return (registered.record(key), known?.type)
    }

    /// Restores a type from its record. Returns a text if the record is damaged.
    mutating func adopt(_ record: Record) -> [String] {
        nextNumber = max(nextNumber, record.number + 1)
        guard let value = record.value else { return [] }
        guard let (key, type) = RegisteredType.read(value, number: record.number) else {
            return ["the record of type number \(record.number) cannot be read"]
        }
        byKey[key] = type
        hasBindings = hasBindings || type.type.presence != nil || type.type.versionAt != nil
        return []
    }
}
