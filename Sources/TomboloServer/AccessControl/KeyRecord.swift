package import TomboloCore
import TomboloCrypto
import TomboloJSON

/// The stored form of an API key: it can verify the key but does not contain it.
package struct KeyRecord: Hashable, Sendable {
    /// The record's number in `RecordSpace.key`.
    package let number: Int64
    /// The key's position in the order in which keys were minted. A key that replaces another takes
    /// the other's place, so a rotation does not hide that a key belongs to a former user.
    let place: Int64
    package let id: String
    package let tenant: TenantID
    package let scopes: ScopeSet
    package let binding: KeyBinding
    package let createdAt: Instant
    package var traits: KeyTraits
    /// Lifetime at minting; nil: unlimited. A rotation may end the key earlier.
    let life: Span?
    /// When the relay first saw the key expired, on its monotonic clock; nil while it is valid.
    var expiredSince: Instant?
    /// The last request with the key. It is up to a second old; after a crash, up to an hour.
    package internal(set) var lastUsedAt: Instant?
    /// HMAC-SHA256 of the secret, keyed with the pepper.
    let code: [UInt8]
}

extension KeyRecord {
    /// The devices that the key may manage.
    var devices: [DeviceKey] {
        scopes.scopes.compactMap { scope in
            if case .device(let id) = scope { DeviceKey(tenant: tenant, id: id) } else { nil }
        }
    }

    /// The scopes in the format of `--scope`.
    package var scopesText: String { scopes.scopes.map(\.text).joined(separator: ",") }

    /// True if the key has an end and the end has come.
    package func isExpired(at now: Instant) -> Bool { traits.expiresAt.map { $0 <= now } ?? false }

    /// The bytes in the log: one JSON object.
    var encoded: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("id", id)
        writer.member("tenant", tenant.name.rawValue)
        scopes.write(to: &writer)
        binding.write(to: &writer)
        writer.member("created_at", createdAt.nanoseconds)
        if place != number { writer.member("place", place) }
        if let name = traits.name { writer.member("name", name) }
        if let creator = traits.createdBy { writer.member("created_by", creator) }
        if let end = traits.expiresAt {
            writer.member("expires_at", end.nanoseconds)
            writer.nullable("life", life?.nanoseconds)
        }
        if let expiredSince { writer.member("expired_since", expiredSince.nanoseconds) }
        if let lastUsedAt { writer.member("last_used_at", lastUsedAt.nanoseconds) }
        writer.member("code", Hex.encode(code))
        writer.endObject()
        return writer.bytes
    }

    /// Returns nil if the bytes are not a valid record.
    init?(number: Int64, encoded bytes: [UInt8]) {
        // The parse error does not matter: the record is useless, and its number is reported.
        guard let view = try? JSONDocument(bytes).root, let id = view["id"]?.string,
            let tenant = view["tenant"]?.string.flatMap(Identifier.init),
            let created = view["created_at"]?.integer,
            let code = view["code"]?.string.flatMap(Hex.decode), let list = view["scopes"]
        else { return nil }
        let scopes = list.elements.compactMap { $0.string.flatMap(Scope.init) }
        guard scopes.count == list.count, let scopes = ScopeSet(scopes) else { return nil }
        let createdAt = Instant(nanoseconds: created)
        let end = Self.instant(view["expires_at"])
        // Older relays stored only the end (`expires_at`): compute the lifetime from it.
        let life =
            view["life"].map { view in view.integer.map { Span(nanoseconds: $0) } }
            ?? end.map { $0 - createdAt }
        self.init(
            number: number, place: view["place"]?.integer ?? number, id: id,
            tenant: TenantID(tenant),
            scopes: scopes,
            binding: KeyBinding(user: view["user"]?.string, app: view["app"]?.string),
            createdAt: createdAt,
            traits: KeyTraits(
                name: view["name"]?.string, expiresAt: end,
                createdBy: view["created_by"]?.string),
            life: life, expiredSince: Self.instant(view["expired_since"]),
            lastUsedAt: Self.instant(view["last_used_at"]), code: code)
    }

    private static func instant(_ view: JSONView?) -> Instant? {
        view?.integer.map { Instant(nanoseconds: $0) }
    }
}
