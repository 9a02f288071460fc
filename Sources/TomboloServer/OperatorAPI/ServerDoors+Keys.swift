import TomboloAPI
import TomboloCore
import TomboloHTTP
package import TomboloJSON
import TomboloRelay

extension ServerDoors {
    /// Makes a key for the tenant of the request's key. Only this answer contains the key's text.
    func mintKey(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let asked = try await read(request, KeyRequest.init(reading:))
        let (isDryRun, now) = (try request.isDryRun, access.now())
        try checkRoom(of: request.tenant)
        let traits = asked.traits(at: now, by: request)
        if isDryRun {
            return .object(isDryRun: true) { writer in
                asked.scopes.write(to: &writer)
                asked.binding.write(to: &writer)
                traits.write(to: &writer)
            }
        }
        let minted = access.mint(
            environment: configuration.keyEnvironment, tenant: request.tenant,
            scopes: asked.scopes, binding: asked.binding, traits: traits, now: now)
        let deed = deed(
            "key.minted",
            ["key": minted.record.id, "scopes": minted.record.scopesText], request)
        try await store(minted.record.number, minted.encoded, deed)
        access.admit(minted)
        tell(deed, "an API key is made")
        return .json(201, ["cache-control": "no-store"]) { minted.write(to: &$0) }
    }

    /// Throws if the tenant has as many keys as it may have.
    func checkRoom(of tenant: TenantID) throws(Problem) {
        let count = access.count(of: tenant)
        guard count < configuration.keysPerTenantMax else {
            throw Problem(
                .limitReached,
                "The tenant has \(count) keys. Delete some with DELETE /v1/keys/{id}, or raise "
                    + "limits.keys_per_tenant in the relay's configuration.")
        }
    }

    /// A page of the tenant's keys, oldest first; the cursor is the last key's number.
    func listKeys(_ request: DoorRequest) throws(Problem) -> DoorResponse {
        let limit = try request.limit()
        let after = try request.integer("cursor", in: 0...Int64.max) ?? 0
        let page = access.page(of: try request.tenantOfKeys(), after: after, limit: limit)
        return .object { writer in
            writer.array("keys", of: page.records) { $1.write(to: &$0) }
            writer.nullable("next_cursor", page.next.map { "\($0)" })
        }
    }

    func deleteKey(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let id = request.parameter("id")
        guard let record = access.record(id: id, of: try request.tenantOfKeys()) else {
            throw Problem(.unknownKey, "No key has the id \"\(id)\". List them with GET /v1/keys.")
        }
        guard id != request.principal?.keyID else {
            throw Problem(
                .ownKey,
                "This key would delete itself, and might be the last. Delete it with another one.")
        }
        let isDryRun = try request.isDryRun
        if !isDryRun {
            // Store the name too: the key's record is deleted, so the id alone would say little.
            let members: KeyValuePairs<String, String> =
                if let name = record.traits.name { ["key": id, "name": name] } else { ["key": id] }
            let deed = deed("key.removed", members, request, of: record.tenant)
            try await remove(record, deed)
            if record.tenant == request.tenant {
                tell(deed, "an API key is deleted")
            } else {
                // Note the operator's key only in the log of its own tenant.
                let own = self.deed(
                    "key.removed", ["key": id, "of": record.tenant.name.rawValue], request)
                await relay.note(own)
                tell(own, "an API key of another tenant is deleted")
            }
        }
        return .gone("id", id, isDryRun: isDryRun)
    }

    func remove(_ record: KeyRecord, _ deed: Deed? = nil) async throws(Problem) {
        access.leaving.insert(record.id)
        defer { access.leaving.remove(record.id) }
        try await store(record.number, nil, deed)
        access.revoke(record)
    }

    func store(_ number: Int64, _ value: [UInt8]?, _ deed: Deed? = nil) async throws(Problem) {
        try await store([(number, value)], deed)
    }

    /// Stores all keys in one commit, or none.
    func store(
        _ keys: [(number: Int64, value: [UInt8]?)], _ deed: Deed? = nil
    ) async throws(Problem) {
        _ = try Self.stored(await relay.storeKeys(keys, deed: deed), "a key")
    }
}

/// The body of `POST /v1/keys`.
private struct KeyRequest {
    let scopes: ScopeSet
    let binding: KeyBinding
    private let name: String?
    private let life: Span?

    func traits(at now: Instant, by request: DoorRequest) -> KeyTraits {
        KeyTraits(name: name, expiresAt: life.map { now + $0 }, createdBy: request.principal?.keyID)
    }

    /// Reads `{"scopes":["device:phone-1"],"user":"u42","app":"com.example.app"}`. `scopes` may
    /// have "all". `"name"` and `"expires_in"` are optional.
    init(reading view: JSONView) throws(FieldErrors) {
        var reader = FieldReader(view)
        name = reader.string("name")
        if let name, let objection = KeyTraits.objection(toName: name) {
            reader.fail("name", objection)
        }
        life = reader.span("expires_in", in: KeyTraits.lives)
        let words =
            "must be an array of 1 to \(ScopeSet.scopesMax) texts, each one of produce, observe, "
            + "operate, device:ID or all"
        var read: ScopeSet?
        if let list = reader.value("scopes") {
            read = list.strings(atMost: ScopeSet.scopesMax).flatMap(ScopeSet.init(words:))
            if read == nil { reader.fail("scopes", words) }
        } else {
            reader.fail("scopes", "is missing: it " + words)
        }
        binding = KeyBinding(user: Self.name("user", &reader), app: Self.name("app", &reader))
        if let read, !binding.fits(read) {
            reader.fail(binding.user == nil ? "app" : "user", "must come with a scope device:ID")
        }
        try reader.finish()
        guard let read else {
            throw FieldErrors([FieldError(pointer: "/scopes", message: words)])
        }
        scopes = read
    }

    private static func name(_ name: String, _ reader: inout FieldReader) -> String? {
        let text = reader.string(name)
        if let text, let objection = KeyBinding.objection(to: text) {
            reader.fail(name, objection)
        }
        return text
    }
}

extension MintedKey {
    /// Writes `{"id","key","scopes",…}`: the only place where a key's text is written.
    ///
    /// - Parameter more: writes the other members of the answer.
    package func write(to writer: inout JSONWriter, more: (inout JSONWriter) -> Void = { _ in }) {
        writer.beginObject()
        writer.member("id", record.id)
        writer.member("key", key.text)
        record.scopes.write(to: &writer)
        record.binding.write(to: &writer)
        writer.member("created_at", record.createdAt.rfc3339)
        record.traits.write(to: &writer)
        more(&writer)
        writer.endObject()
    }
}

extension KeyRecord {
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("id", id)
        scopes.write(to: &writer)
        binding.write(to: &writer)
        writer.member("created_at", createdAt.rfc3339)
        traits.write(to: &writer)
        if let lastUsedAt { writer.member("last_used_at", lastUsedAt.rfc3339) }
        writer.endObject()
    }
}

extension ScopeSet {
    func write(to writer: inout JSONWriter) {
        writer.array("scopes", of: scopes) { $0.string($1.text) }
    }
}
