package import TomboloCore
import TomboloCrypto

/// Who asks: all that a request may know of its key.
package struct Principal: Hashable, Sendable {
    package let keyID: String
    /// Its place in the order in which keys were minted.
    let place: Int64
    /// The only source of a request's tenant.
    package let tenant: TenantID
    package let scopes: ScopeSet
    /// Whose devices it registers, where it has scopes of devices.
    package let binding: KeyBinding

    /// As rows of the log keep it.
    var asking: AskingKey { AskingKey(id: keyID) }

    /// Whether it may see and do what is the whole relay's.
    var operatesRelay: Bool { tenant == .main && scopes.contains(.operate) }
}

/// A key just made; its text is not kept anywhere.
package struct MintedKey: Sendable {
    package let key: APIKey
    package let record: KeyRecord
    /// `record` as `RecordSpace.key` keeps it under `record.number`.
    package var encoded: [UInt8] { record.encoded }
}

/// Knows the API keys of all tenants and tells whose a request is.
///
/// It holds what is durable: keys are written to the log first (`Relay.storeKey`) and `admit`ted
/// after. Used on the loop's thread only, which serialises it: hence `@unchecked Sendable`.
package final class AccessControl: @unchecked Sendable {
    private let pepper: Pepper
    private let chance: @Sendable (Int) -> [UInt8]
    /// Wall time.
    let now: @Sendable () -> Instant
    var keys: [String: KeyRecord] = [:]
    /// The ids of each tenant's keys by their numbers, in the order of the numbers.
    private var places: [TenantID: [(number: Int64, id: String)]] = [:]
    /// Of each key the last use that the log has.
    var storedUses: [String: Instant] = [:]
    /// Deleted since the process began: a leaked one that is still in use is named.
    private var removed: [String: KeyRecord] = [:]
    private static let removedMax = 1_000
    /// Keys whose deletion is on its way to the log.
    var leaving: Set<String> = []
    /// Keys whose successor is on its way to the log.
    var rotating: Set<String> = []
    private var nextNumber: Int64 = 1
    /// Compared with where an id is not known, so that it takes as long as where it is.
    private let nobody: [UInt8]

    /// Numbers of records that could not be read: their keys are refused. For the operator to see.
    package private(set) var unreadable: [Int64] = []

    /// - Parameters:
    ///   - records: the current values of `RecordSpace.key`.
    ///   - now: wall time; without it no key expires.
    ///   - chance: makes bytes that nobody can guess.
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

    /// What is known of a key that somebody has.
    enum Verdict {
        case known(Principal)
        case expired(Instant, id: String)
        /// It was deleted since the process began.
        case removed(id: String)
        case unknown
    }

    /// Whose key this is; nil where it opens nothing.
    package func principal(of key: APIKey) -> Principal? {
        if case .known(let principal) = verdict(on: key) { principal } else { nil }
    }

    /// Takes the same time for a wrong secret as for an unknown id. That a key has expired is said
    /// to those alone who have all of it.
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
        // A time that is to come is of a clock that was wrong.
        if record.lastUsedAt.map({ now - $0 >= .seconds(1) || $0 > now }) ?? true {
            keys[record.id]?.lastUsedAt = now
        }
        return .known(
            Principal(
                keyID: record.id, place: record.place, tenant: record.tenant,
                scopes: record.scopes, binding: record.binding))
    }

    /// Makes a key; it opens nothing until `admit`. Its number is given once, also where storing it
    /// fails.
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
            number: nextNumber, place: predecessor?.place, id: key.id, tenant: tenant,
            scopes: scopes, binding: binding, createdAt: now, traits: traits,
            life: traits.expiresAt.map { $0 - now }, code: code)
        return MintedKey(key: key, record: record)
    }

    /// The key's record is durable: it opens from now on.
    package func admit(_ minted: MintedKey) { place(minted.record) }

    /// The key's deletion is durable: it opens nothing any more.
    package func revoke(_ record: KeyRecord) {
        if removed.count >= Self.removedMax { removed.removeAll() }
        removed[record.id] = record
        if keys.removeValue(forKey: record.id) != nil {
            let index = index(after: record.number, in: record.tenant) - 1
            if index >= 0 { places[record.tenant]?.remove(at: index) }
        }
        storedUses[record.id] = nil
        leaving.remove(record.id)
    }

    /// Whether the key was deleted, or has expired, after its request began.
    func isGone(_ principal: Principal) -> Bool {
        keys[principal.keyID].map { $0.isExpired(at: now()) } ?? true
    }

    /// A tenant's keys, oldest first.
    package func records(of tenant: TenantID) -> [KeyRecord] {
        page(of: tenant, after: 0, limit: .max).records
    }

    /// How many keys a tenant has, expired ones too.
    func count(of tenant: TenantID) -> Int { places[tenant]?.count ?? 0 }

    /// At most so many of a tenant's keys, oldest first, after the one with this number; and the
    /// number of the last of them, where there are more.
    func page(
        of tenant: TenantID, after number: Int64, limit: Int
    ) -> (records: [KeyRecord], next: Int64?) {
        let own = places[tenant] ?? []
        let rest = own[index(after: number, in: tenant)...]
        let page = rest.prefix(limit)
        return (
            page.compactMap { keys[$0.id] }, page.count < rest.count ? page.last?.number : nil
        )
    }

    private func place(_ record: KeyRecord) {
        if keys.updateValue(record, forKey: record.id) == nil {
            let index = index(after: record.number, in: record.tenant)
            places[record.tenant, default: []].insert((record.number, record.id), at: index)
        }
    }

    /// Where the first key with a higher number is among a tenant's.
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

    /// A key of this tenant; another tenant's is unknown.
    package func record(id: String, of tenant: TenantID) -> KeyRecord? {
        keys[id].flatMap { $0.tenant == tenant ? $0 : nil }
    }
}
