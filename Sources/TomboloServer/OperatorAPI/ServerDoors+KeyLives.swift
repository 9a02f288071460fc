import TomboloAPI
package import TomboloCore
import TomboloHTTP
import TomboloJSON
import TomboloLoop
import TomboloRelay

// A key's successor, its last use, and its end.

extension ServerDoors {
    /// The old key opens for so long beside its successor, where nothing else is asked for.
    static let rotationGrace = Span.hours(1)
    /// Nobody needs both for longer.
    private static let rotationGraceMax = Span.hours(30 * 24)

    /// A new key: of what is asked for, or in the place of another.
    func makeKey(
        _ request: DoorRequest, _ exchange: HTTPExchange
    ) async throws(Problem) -> DoorResponse {
        request.route.operation == .rotateKey
            ? try await rotateKey(request, exchange) : try await mintKey(request, exchange)
    }

    /// `POST /v1/keys/{id}/rotate`: a key like this one takes its place. Both open until the grace
    /// is over, so that its users can change over one by one.
    func rotateKey(
        _ request: DoorRequest, _ exchange: HTTPExchange
    ) async throws(Problem) -> DoorResponse {
        let id = request.parameter("id")
        guard let record = access.record(id: id, of: request.tenant) else {
            throw Problem(.unknownKey, "No key has the id \"\(id)\". List them with GET /v1/keys.")
        }
        let document = try await request.json(
            of: exchange, atMost: configuration.bodyBytesMax, orEmpty: true)
        let grace: Span
        do { grace = try Self.grace(reading: document.root) } catch { throw Problem(error) }
        let now = access.now()
        let ending = access.ending(record, at: now + grace)
        var traits = record.traits
        traits.createdBy = request.principal?.keyID
        traits.expiresAt = record.traits.expiresAt.map { now + ($0 - record.createdAt) }
        if try request.isDryRun {
            return .json { writer in
                writer.beginObject()
                writer.member("dry_run", true)
                record.scopes.write(to: &writer)
                record.binding.write(to: &writer)
                traits.write(to: &writer)
                ending.writeReplaced(to: &writer)
                writer.endObject()
            }
        }
        let minted = access.mint(
            environment: configuration.keyEnvironment, tenant: request.tenant,
            scopes: record.scopes, binding: record.binding, traits: traits, now: now)
        let deed = deed(
            "key.rotated", ["key": minted.record.id, "replaces": id], request)
        try await store(minted.record.number, minted.encoded, deed)
        access.admit(minted)
        tell(deed, "an API key has a successor")
        guard !access.leaving.contains(id), access.keys[id] != nil else {
            throw Problem(.unknownKey, "The key \"\(id)\" was deleted while it was rotated.")
        }
        try await end(record, as: ending)
        return .json(201, ["cache-control": "no-store"]) { writer in
            minted.write(to: &writer) { ending.writeReplaced(to: &$0) }
        }
    }

    /// In memory first: what stores a use meanwhile stores the end too.
    private func end(_ record: KeyRecord, as ending: KeyRecord) async throws(Problem) {
        access.keys[record.id]?.traits = ending.traits
        do {
            try await store(ending.number, ending.encoded)
        } catch {
            access.keys[record.id]?.traits = record.traits
            throw error
        }
    }

    private static func grace(reading view: JSONView) throws(FieldErrors) -> Span {
        var reader = FieldReader(view)
        let grace = reader.span("grace", in: .zero...rotationGraceMax)
        try reader.finish()
        return grace ?? rotationGrace
    }

    /// How often it is looked at when keys were used last.
    private static let usesPeriod = Duration.seconds(60)

    /// Keeps in the log when keys were used last, and deletes keys that expired long ago. Until it
    /// is cancelled.
    package func keepKeys() async throws {
        while true {
            try await loop.sleep(for: Self.usesPeriod)
            await storeUses(olderThan: AccessControl.useKept)
            await relay.noteDamage()
            tellGathered(isFull: await !relay.takesEvents)
            for record in access.outlived {
                // Tried again next time.
                do { try await remove(record) } catch { break }
            }
        }
    }

    /// Stores uses that are at least `age` newer than those that the log has; before a stop, all.
    package func storeUses(olderThan age: Span = .zero) async {
        for record in access.usesToStore(olderThan: age) {
            // A log that takes nothing now is asked again next time. What was deleted or changed
            // since the list was made is not put back.
            let isAsListed = access.keys[record.id]?.traits == record.traits
            guard isAsListed, !access.leaving.contains(record.id) else { continue }
            do { try await store(record.number, record.encoded) } catch { return }
            access.noteStored(record)
        }
    }
}

extension KeyRecord {
    /// The old key beside its successor.
    fileprivate func writeReplaced(to writer: inout JSONWriter) {
        writer.name("replaces")
        writer.beginObject()
        writer.member("id", id)
        if let end = traits.expiresAt { writer.member("expires_at", end.rfc3339) }
        writer.endObject()
    }
}
