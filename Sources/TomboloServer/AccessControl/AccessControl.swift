package import TomboloCore
import TomboloCrypto

/// The owner of a key: everything that a request may know about its key.
package struct Principal: Hashable, Sendable {
    package let keyID: String
    /// The key's position in the order in which keys were minted (`KeyRecord.place`).
    let place: Int64
    /// The key's tenant. A request's tenant comes from here only.
    package let tenant: TenantID
    package let scopes: ScopeSet
    /// The user and app of the devices that it registers, if it has scopes of devices.
    package let binding: KeyBinding

    /// The key in the form that the log's rows hold.
    var asking: AskingKey { AskingKey(id: keyID) }

    /// True if the key may see and change things that belong to the whole relay.
    var operatesRelay: Bool { tenant == .main && scopes.contains(.operate) }
}

/// A key that was just made; its text is not stored anywhere.
package struct MintedKey: Sendable {
    package let key: APIKey
    package let record: KeyRecord
    /// `record` as bytes, to be stored in `RecordSpace.key` under `record.number`.
    package var encoded: [UInt8] { record.encoded }
}

/// Stores the API keys of all tenants and authenticates requests. It contains durable keys only: a
/// key is first written to the log (`Relay.storeKey`) and then `admit`ted. It is used on the loop's
/// thread only, hence `@unchecked Sendable`.
package final class AccessControl: @unchecked Sendable {
    private let pepper: Pepper
    private let chance: @Sendable (Int) -> [UInt8]
    /// Returns the wall time.
    let now: @Sendable () -> Instant
    var keys = ShardedDictionary<String, KeyRecord>()
    private var places: [TenantID: [(number: Int64, id: String)]] = [:]
    /// The ids of each device's keys, oldest first.
    private var ofDevice = ShardedDictionary<DeviceKey, [String]>()
    /// For each key, the time of its last use that is in the log.
    var storedUses = ShardedDictionary<String, Instant>()
    /// Keys deleted since the process began, so that a refusal can say that a deleted key is still
    /// in use. Emptied when full.
    private var removed: [String: KeyRecord] = [:]
    private static let removedMax = 1_000
    /// Keys whose deletion is being written to the log.
    var leaving: Set<String> = []
    /// Keys whose successor is being written to the log.
    var rotating: Set<String> = []
    private var nextNumber: Int64 = 1
    /// A code to compare with if a key's id is unknown, so that the check takes as long.
    private let nobody: [UInt8]

    /// Numbers of records that could not be read, for the operator. Their keys are refused.
    package private(set) var unreadable: [Int64] = []

    /// - Parameters:
    ///   - records: the current values of `RecordSpace.key`.
    ///   - now: wall time; without it no key expires.
    ///   - chance: makes unpredictable bytes.
    package init(
        pepper: Pepper, records: [(number: Int64, value: [UInt8])],
        now: @escaping @Sendable () -> Instant = { .distantPast },
        chance: @escaping @Sendable (Int) -> [UInt8] = RandomBytes.make
    ) {
        self.pepper = pepper
        self.chance = chance
        self.now = now
        nobody = chance(32)
        for (number, value) in records {
            guard number != KeyOrder.number else {
                nextNumber = max(nextNumber, (KeyOrder(record: value)?.newest ?? 0) + 1)
                continue
            }
            nextNumber = max(nextNumber, number + 1)
            if let record = KeyRecord(number: number, encoded: value) {
                place(record)
                storedUses[record.id] = record.lastUsedAt
            } else {
                unreadable.append(number)
            }
        }
    }

    /// The result of checking a key.
    enum Verdict {
        case known(Principal)
        case expired(Instant, id: String)
        /// The key was deleted since the process began.
        case removed(id: String)
        case unknown
    }

    /// The owner of the key; nil if the key is not valid.
    package func principal(of key: APIKey) -> Principal? {
        if case .known(let principal) = verdict(on: key) { principal } else { nil }
    }

    /// Checks a key and notes its use. Takes the same time for a wrong secret as for an unknown id.
    /// Reports an expiry or deletion only if the secret is right.
    func verdict(on key: APIKey) -> Verdict {
        let record = keys[key.id]
        let known = record ?? removed[key.id]
        let code = HMACSHA256.authenticate(Array(key.secret.utf8), key: pepper.bytes)
        guard equalInConstantTime(code, known?.code ?? nobody), known != nil else {
            return .unknown
        }
        guard let record else { return .removed(id: key.id) }
        let now = now()
        if let end = record.traits.expiresAt, end <= now { return .expired(end, id: record.id) }
        // Note a use at most once a second. A future time is from a wrong clock: replace it.
        if record.lastUsedAt.map({ now - $0 >= .seconds(1) || $0 > now }) ?? true {
            keys[record.id]?.lastUsedAt = now
        }
        return .known(
            Principal(
                keyID: record.id, place: record.place, tenant: record.tenant,
                scopes: record.scopes, binding: record.binding))
    }

    /// Makes a key, which is valid only after `admit`. Its number is never reused.
    ///
    /// - Parameter predecessor: the key that it replaces.
    package func mint(
        environment: String, tenant: TenantID, scopes: ScopeSet, binding: KeyBinding = .none,
        traits: KeyTraits = KeyTraits(), after predecessor: KeyRecord? = nil, now: Instant
    ) -> MintedKey {
        defer { nextNumber += 1 }
        let key = APIKey(environment: environment, chance: chance)
        let code = HMACSHA256.authenticate(Array(key.secret.utf8), key: pepper.bytes)
        let record = KeyRecord(
            number: nextNumber, place: predecessor?.place ?? nextNumber, id: key.id, tenant: tenant,
            scopes: scopes, binding: binding, createdAt: now, traits: traits,
            life: traits.expiresAt.map { $0 - now }, code: code)
        return MintedKey(key: key, record: record)
    }

    /// Makes a key valid; call it when its record is durable.
    package func admit(_ minted: MintedKey) { place(minted.record) }

    /// Makes a key invalid; call it when its deletion is durable.
    package func revoke(_ record: KeyRecord) {
        if removed.count >= Self.removedMax { removed.removeAll() }
        removed[record.id] = record
        if keys.removeValue(forKey: record.id) != nil {
            let index = index(after: record.number, in: record.tenant) - 1
            if index >= 0 { places[record.tenant]?.remove(at: index) }
            for device in record.devices {
                ofDevice[device]?.removeAll { $0 == record.id }
                if ofDevice[device]?.isEmpty == true { ofDevice[device] = nil }
            }
        }
        storedUses[record.id] = nil
        leaving.remove(record.id)
    }

    /// True if the key was deleted or has expired since its request began.
    func isGone(_ principal: Principal) -> Bool {
        keys[principal.keyID].map { $0.isExpired(at: now()) } ?? true
    }

    /// A tenant's keys, oldest first.
    package func records(of tenant: TenantID) -> [KeyRecord] {
        page(of: tenant, after: 0, limit: .max).records
    }

    /// A device's keys, oldest first.
    func records(of device: DeviceKey) -> [KeyRecord] {
        (ofDevice[device] ?? []).compactMap { keys[$0] }
    }

    /// The number of a tenant's keys, including expired ones.
    func count(of tenant: TenantID) -> Int { places[tenant]?.count ?? 0 }

    /// Up to `limit` of a tenant's keys whose number is greater than `number`, oldest first. If
    /// there are more, `next` is the last returned number.
    func page(
        of tenant: TenantID, after number: Int64, limit: Int
    ) -> (records: [KeyRecord], next: Int64?) {
        let own = places[tenant] ?? []
        let rest = own[index(after: number, in: tenant)...]
        let page = rest.prefix(limit)
        return (page.compactMap { keys[$0.id] }, page.count < rest.count ? page.last?.number : nil)
    }

    private func place(_ record: KeyRecord) {
        if keys.updateValue(record, forKey: record.id) == nil {
            let index = index(after: record.number, in: record.tenant)
            places[record.tenant, default: []].insert((record.number, record.id), at: index)
            for device in record.devices { ofDevice[device, default: []].append(record.id) }
        }
    }

    /// The index of the tenant's first key whose number is greater than `number`.
    private func index(after number: Int64, in tenant: TenantID) -> Int {
        let own = places[tenant] ?? []
        var range = own.startIndex..<own.endIndex
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            range =
                own[middle].number > number
                ? range.lowerBound..<middle : middle + 1..<range.upperBound
        }
        return range.lowerBound
    }

    /// The key with this id; nil if it is unknown or belongs to another tenant.
    package func record(id: String, of tenant: TenantID) -> KeyRecord? {
        keys[id].flatMap { $0.tenant == tenant ? $0 : nil }
    }
}
