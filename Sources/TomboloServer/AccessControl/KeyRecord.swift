package import TomboloCore
import TomboloCrypto
import TomboloJSON

/// What is stored of an API key: enough to know it again, too little to use it.
package struct KeyRecord: Hashable, Sendable {
    /// Its place in `RecordSpace.key`.
    package let number: Int64
    package let id: String
    package let tenant: TenantID
    package let scopes: ScopeSet
    package let binding: KeyBinding
    package let createdAt: Instant
    /// HMAC-SHA256 of the secret under the pepper.
    let code: [UInt8]

    init(
        number: Int64, id: String, tenant: TenantID, scopes: ScopeSet, binding: KeyBinding,
        createdAt: Instant, code: [UInt8]
    ) {
        self.number = number
        self.id = id
        self.tenant = tenant
        self.scopes = scopes
        self.binding = binding
        self.createdAt = createdAt
        self.code = code
    }

    /// The bytes that the log keeps: one JSON object.
    var encoded: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("id", id)
        writer.member("tenant", tenant.name.rawValue)
        writer.name("scopes")
        writer.beginArray()
        for scope in scopes.scopes { writer.string(scope.text) }
        writer.endArray()
        binding.write(to: &writer)
        writer.member("created_at", createdAt.nanoseconds)
        writer.member("code", Hex.encode(code))
        writer.endObject()
        return writer.bytes
    }

    /// Answers nil for bytes that no relay of this kind wrote.
    init?(number: Int64, encoded bytes: [UInt8]) {
        // Nothing is known of the fault but that the record is of no use; its number is reported.
        guard let view = try? JSONDocument(bytes).root, let id = view["id"]?.string,
            let tenant = view["tenant"]?.string.flatMap(Identifier.init),
            let created = view["created_at"]?.integer,
            let code = view["code"]?.string.flatMap(Hex.decode), let list = view["scopes"]
        else { return nil }
        let scopes = list.elements.compactMap { $0.string.flatMap(Scope.init) }
        guard scopes.count == list.count, let scopes = ScopeSet(scopes) else { return nil }
        self.init(
            number: number, id: id, tenant: TenantID(tenant), scopes: scopes,
            binding: KeyBinding(user: view["user"]?.string, app: view["app"]?.string),
            createdAt: Instant(nanoseconds: created), code: code)
    }
}
