import TomboloJSON

// A head is one JSON object with short names, so that people can read it with a database shell.
// A newer relay may add fields: an older relay ignores fields that it does not know.

extension Activity {
    /// The head's bytes: everything that start-up needs to restore this activity.
    func headBytes() -> [UInt8] { headState.bytes() }

    /// Returns nil if the bytes are not a valid head. The caller then sets the activity aside.
    init?(
        head bytes: [UInt8], number: ActivityNumber, version: Int64, seq: Int64,
        tenantSeq: Int64? = nil
    ) {
        do throws(StoredValueError) {
            self = try Self(
                stored: bytes, number: number, version: version, seq: seq, tenantSeq: tenantSeq)
        } catch {
            return nil
        }
    }

    /// Throws if the bytes are not a head, or contain a value that no relay writes.
    init(
        stored bytes: [UInt8], number: ActivityNumber, version: Int64, seq: Int64,
        tenantSeq: Int64? = nil
    ) throws(StoredValueError) {
        let view = try JSONView.stored(bytes)
        let id = try view.stored("id") { $0.string.flatMap(Identifier.init) }
        let tenant = try view.stored("tenant") { $0.string.flatMap(Identifier.init) }
        incarnation = try view.stored("incarnation", \.storedCount)
        durableIncarnation = incarnation
        key = ActivityKey(tenant: TenantID(tenant), id: id)
        self.number = number
        definitionBox = DefinitionBox(try Self.definition(view))
        let projection = try Projection(stored: view, version: version)
        accepted = projection
        durable = projection
        self.seq = seq
        self.tenantSeq = tenantSeq ?? seq
        alerts = []
        for waiting in view["alerts"].map({ Array($0.elements) }) ?? [] {
            if let alert = try Projection.alert(waiting) { alerts.append(alert) }
        }
        if let alert = projection.alert { alerts.append(alert) }
        if let known = view["lives"] {
            var lives: [EarlierLife] = []
            for life in known.elements { lives.append(try EarlierLife(stored: life)) }
            self.lives = lives
        }
    }

    private static func definition(
        _ view: JSONView
    ) throws(StoredValueError) -> Definition {
        func policy<Policy: RawRepresentable<UInt8>>(
            _ name: String, or absent: Policy
        ) throws(StoredValueError) -> Policy {
            try view.stored(name, or: absent) {
                $0.integer.flatMap { Policy(rawValue: UInt8(clamping: $0)) }
            }
        }
        return Definition(
            type: try view.stored("type", \.string), app: try view.stored("app", \.string),
            audience: Audience(stored: view), route: try policy("route", or: .unspecified),
            attributes: try view.stored("attributes", \.storedObject),
            onUnknownStart: try policy("unknown", or: .giveUp),
            startWait: try view.stored("start_wait", or: Start.startWaitDefault, \.storedSpan),
            endAfter: try view.stored("end_after", or: nil) { $0.storedSpan.map(Optional.some) },
            onTokenGone: try policy("token_gone", or: .stop),
            renew: try policy("renew", or: .never),
            startedAt: try view.stored("started", \.storedInstant),
            framesShowWhen: try policy("frames_when", or: .background),
            digest: try view.stored("digest") { $0.string.flatMap(UInt64.init) })
    }
}

extension Projection {
    func write(into writer: inout JSONWriter) {
        writer.member("state", state)
        writer.member("changed", changedAt.nanoseconds)
        if let relevance { writer.member("relevance", relevance) }
        if let staleAfter { writer.member("stale", staleAfter.nanoseconds) }
        writer.member("urgency", Int64(urgency.rawValue))
        if let stateVersion { writer.member("sv", stateVersion) }
        clip?.write(as: "clip", into: &writer)
        keptClip?.write(as: "kept", into: &writer)
        if let alert {
            writer.member("alert", alert.content)
            writer.member("alert_version", alert.version)
            writer.member("alert_expires", alert.expiresAt.nanoseconds)
        }
        if let ending {
            writer.member("ended", ending.at.nanoseconds)
            writer.member("dismissal", ending.dismissal.text)
            if ending.isBare { writer.member("bare", true) }
        }
    }

    /// Throws if a member is missing or has a value that no relay writes.
    init(stored view: JSONView, version: Int64) throws(StoredValueError) {
        let urgency = try view.stored("urgency", or: Int64(1), \.storedCount)
        self.init(
            restoring: try view.stored("state", \.storedObject), version: version,
            changedAt: try view.stored("changed", \.storedInstant),
            relevance: view["relevance"]?.double,
            staleAfter: try view.stored("stale", or: nil) { $0.storedSpan.map(Optional.some) },
            urgency: Urgency(rawValue: UInt8(clamping: urgency)) ?? .normal,
            clip: try PlayingClip.stored(view, as: "clip"),
            keptClip: try PlayingClip.stored(view, as: "kept"),
            alert: try Self.alert(view), ending: try Self.ending(view),
            stateVersion: view["sv"]?.integer)
    }

    fileprivate static func alert(_ view: JSONView) throws(StoredValueError) -> PendingAlert? {
        guard let content = view["alert"]?.json else { return nil }
        return PendingAlert(
            version: try view.stored("alert_version", \.storedCount), content: content,
            expiresAt: try view.stored("alert_expires", \.storedInstant))
    }

    private static func ending(_ view: JSONView) throws(StoredValueError) -> Ending? {
        guard view["ended"] != nil else { return nil }
        let dismissal = view["dismissal"]?.string.flatMap { Dismissal(text: $0) }
        return Ending(
            at: try view.stored("ended", \.storedInstant), dismissal: dismissal ?? .standard,
            isBare: view["bare"]?.bool ?? false)
    }
}

extension PlayingClip {
    fileprivate func write(as name: String, into writer: inout JSONWriter) {
        writer.member(name + "_version", version)
        writer.member(name + "_started", startedAt.nanoseconds)
        if case .tween(let tween) = clip.motion, tween.velocity.contains(where: { $0 != 0 }) {
            writer.array(name + "_velocity", of: tween.velocity) { $0.double($1) }
        }
        writer.named(name) { clip.write(into: &$0) }
    }

    /// Returns nil if `view` has no clip under `name`.
    fileprivate static func stored(
        _ view: JSONView, as name: String
    ) throws(StoredValueError) -> Self? {
        guard let fields = view[name] else { return nil }
        var reader = FieldReader(fields, isOfLog: true)
        guard var clip = Clip(reading: &reader) else { throw StoredValueError(member: name) }
        do { try reader.finish(allowingUnknown: true) } catch {
            throw StoredValueError(member: name)
        }
        if case .tween(let tween) = clip.motion {
            let velocity = view[name + "_velocity"]?.elements.compactMap(\.double) ?? []
            clip.motion = .tween(tween.restored(velocity: velocity))
        }
        return Self(
            version: try view.stored(name + "_version", \.storedCount),
            startedAt: try view.stored(name + "_started", \.storedInstant), clip: clip)
    }
}
