import TomboloAPI
package import TomboloCore
import TomboloHTTP
import TomboloJSON
import TomboloLoop
import TomboloRelay

// Rotation, last use and end of keys.

extension ServerDoors {
    /// How long the old key stays valid after a rotation if the request does not say.
    static let rotationGrace = Span.hours(1)
    /// Maximum time for which both keys are valid.
    private static let rotationGraceMax = Span.hours(30 * 24)

    /// `POST /v1/keys/{id}/rotate`: replaces a key by a similar one. The old one stays valid for a
    /// grace period, so that clients can change one by one.
    func rotateKey(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let id = request.parameter("id")
        guard let record = access.record(id: id, of: request.tenant) else {
            throw Problem(.unknownKey, "No key has the id \"\(id)\". List them with GET /v1/keys.")
        }
        let grace = try await read(request, orEmpty: true, Self.grace)
        let now = access.now()
        try checkRotation(of: record, grace, by: request, now: now)
        let ending = access.ending(record, at: now + grace)
        var traits = record.traits
        traits.createdBy = request.principal?.keyID
        traits.expiresAt = record.life.map { now + $0 }
        if try request.isDryRun {
            return .object(isDryRun: true) { writer in
                record.scopes.write(to: &writer)
                record.binding.write(to: &writer)
                traits.write(to: &writer)
                ending.writeReplaced(to: &writer)
            }
        }
        let minted = access.mint(
            environment: configuration.keyEnvironment, tenant: request.tenant,
            scopes: record.scopes, binding: record.binding, traits: traits,
            after: record, now: now)
        let deed = deed("key.rotated", ["key": minted.record.id, "replaces": id], request)
        try await replace(ending, by: minted, deed)
        tell(deed, "an API key has a successor")
        return .json(201, ["cache-control": "no-store"]) { writer in
            minted.write(to: &writer) { ending.writeReplaced(to: &$0) }
        }
    }

    /// Shortest grace period if a key rotates itself: if the answer is lost, it can ask again.
    private static let ownGraceMin = Span.minutes(1)

    private func checkRotation(
        of record: KeyRecord, _ grace: Span, by request: DoorRequest, now: Instant
    ) throws(Problem) {
        if let end = record.traits.expiresAt, end <= now {
            throw Problem(
                .keyNotRotated,
                "The key \"\(record.id)\" expired at \(end.rfc3339). Make a new one with POST "
                    + "/v1/keys.")
        }
        guard !access.leaving.contains(record.id) else { throw Self.deletedMeanwhile(record.id) }
        guard !access.rotating.contains(record.id) else {
            throw Problem(
                .keyNotRotated,
                "Another rotation of the key \"\(record.id)\" is being stored. Look at GET /v1/keys, "
                    + "then rotate the key that took its place.")
        }
        guard record.id != request.principal?.keyID || grace >= Self.ownGraceMin else {
            throw Problem(
                .ownKey,
                "This key would end at once, and where the answer is lost nobody has its successor. "
                    + "Give a grace of at least 1m, or rotate it with another key.")
        }
        try checkRoom(of: record.tenant)
    }

    private static func deletedMeanwhile(_ id: String) -> Problem {
        Problem(.unknownKey, "The key \"\(id)\" was deleted while it was rotated.")
    }

    /// Stores the successor and the end of the old key in one commit, so that a crash cannot
    /// separate them. Throws if the old key has been deleted meanwhile.
    private func replace(
        _ old: KeyRecord, by minted: MintedKey, _ deed: Deed
    ) async throws(Problem) {
        access.rotating.insert(old.id)
        defer { access.rotating.remove(old.id) }
        try await store([(minted.record.number, minted.encoded), (old.number, old.encoded)], deed)
        guard access.keys[old.id] != nil, !access.leaving.contains(old.id) else {
            try await store(minted.record.number, nil)
            throw Self.deletedMeanwhile(old.id)
        }
        access.admit(minted)
        access.keys[old.id]?.traits = old.traits
    }

    private static func grace(reading view: JSONView) throws(FieldErrors) -> Span {
        var reader = FieldReader(view)
        let grace = reader.span("grace", in: .zero...rotationGraceMax)
        try reader.finish()
        return grace ?? rotationGrace
    }

    /// How often last uses are stored.
    private static let usesPeriod = Duration.seconds(60)

    /// Stores the last uses of keys and deletes keys that expired long ago. Repeats until its task
    /// is cancelled. Also reports damage and gathered notes.
    package func keepKeys() async throws {
        while true {
            try await loop.sleep(for: Self.usesPeriod)
            await storeUses(olderThan: AccessControl.useKept)
            await relay.noteDamage()
            tellGathered(isFull: await !relay.isReady)
            await deleteOutlived(at: await relay.steadyNow())
        }
    }

    /// Stores when keys were first seen expired, and deletes keys that have been expired for long.
    ///
    /// - Parameter steady: time of the relay's monotonic clock.
    func deleteOutlived(at steady: Instant) async {
        for id in access.changedExpiry() {
            guard let record = access.notingExpiry(id, at: steady) else { continue }
            // If the log cannot be written now, the next period tries again.
            do { try await store(record.number, record.encoded) } catch { return }
            access.keys[id]?.expiredSince = record.expiredSince
        }
        for record in access.outlived(at: steady) {
            do { try await remove(record) } catch { return }
            report(
                OperatorNote(
                    .info, .keyDeleted,
                    "the key \(record.id) is deleted: it was listed for 30 days after it expired"
                ).adding("tenant", record.tenant.name.rawValue).adding("key", record.id))
        }
    }

    /// Stores last uses that are more than `age` after the stored ones. With the default, all: for
    /// the end of the process.
    package func storeUses(olderThan age: Span = .zero) async {
        for record in access.usesToStore(olderThan: age) {
            // Do not store a key that was deleted or changed since the list was made, because that
            // would undo it. If the log cannot be written now, the next period tries again.
            let isAsListed = access.keys[record.id]?.traits == record.traits
            guard isAsListed, access.isFree(record.id) else { continue }
            do { try await store(record.number, record.encoded) } catch { return }
            access.noteStored(record)
        }
    }
}

extension KeyRecord {
    /// Writes the member `replaces`, which describes the old key.
    fileprivate func writeReplaced(to writer: inout JSONWriter) {
        writer.object("replaces") { writer in
            writer.member("id", id)
            if let end = traits.expiresAt { writer.member("expires_at", end.rfc3339) }
        }
    }
}
