import TomboloJSON

// A head is one JSON object with short names, so that a person with a database shell can read it.
// Fields may be added; an unknown one is passed over, so that an older relay reads a newer one's
// heads.

extension Activity {
    /// All that start-up needs of this activity.
    func headBytes() -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("id", key.id.rawValue)
        writer.member("tenant", key.tenant.name.rawValue)
        writer.member("incarnation", incarnation)
        writer.member("type", definition.type)
        writer.member("app", definition.app)
        writeAudience(into: &writer)
        writer.member("route", Int64(definition.route.rawValue))
        writer.member("attributes", definition.attributes)
        writer.member("unknown", Int64(definition.onUnknownStart.rawValue))
        if definition.onTokenGone != .stop {
            writer.member("token_gone", Int64(definition.onTokenGone.rawValue))
        }
        if definition.renew != .never { writer.member("renew", Int64(definition.renew.rawValue)) }
        if definition.framesShowWhen != .background {
            writer.member("frames_when", Int64(definition.framesShowWhen.rawValue))
        }
        writer.member("started", definition.startedAt.nanoseconds)
        writer.member("digest", String(definition.digest))
        accepted.write(into: &writer)
        writeWaitingAlerts(into: &writer)
        writer.endObject()
        return writer.bytes
    }

    /// Alerts that wait for their turn behind the newest, which the projection has.
    private func writeWaitingAlerts(into writer: inout JSONWriter) {
        let older = (alerts + comingAlerts).suffix(Alert.waitingMax).filter {
            $0.version != accepted.alert?.version && $0.version >= beganAt
                && $0.expiresAt > accepted.changedAt
        }
        guard !older.isEmpty else { return }
        writer.name("alerts")
        writer.beginArray()
        for alert in older {
            writer.beginObject()
            writer.member("alert", alert.content)
            writer.member("alert_version", alert.version)
            writer.member("alert_expires", alert.expiresAt.nanoseconds)
            writer.endObject()
        }
        writer.endArray()
    }

    private func writeAudience(into writer: inout JSONWriter) {
        switch definition.audience {
        case .none: break
        case .user(let user): writer.member("user", user)
        case .channel(let channel): writer.member("channel", channel.rawValue)
        case .devices(let devices):
            writer.name("devices")
            writer.beginArray()
            for device in devices { writer.string(device.rawValue) }
            writer.endArray()
        }
    }

    /// Nil where the bytes are no head: the caller reports and sets aside.
    init?(head bytes: [UInt8], number: ActivityNumber, version: Int64, seq: Int64) {
        guard let document = try? JSONDocument(bytes) else { return nil }  // damage is the answer
        let view = document.root
        guard let id = view["id"]?.string.flatMap(Identifier.init),
            let tenant = view["tenant"]?.string.flatMap(Identifier.init),
            let incarnation = view["incarnation"]?.integer, let type = view["type"]?.string,
            let app = view["app"]?.string, let attributes = view["attributes"]?.json,
            let started = view["started"]?.integer,
            let digest = view["digest"]?.string.flatMap(UInt64.init),
            let projection = Projection(view, version: version)
        else { return nil }
        key = ActivityKey(tenant: TenantID(tenant), id: id)
        self.number = number
        self.incarnation = incarnation
        durableIncarnation = incarnation
        definition = Definition(
            type: type, app: app, audience: Self.audience(view),
            route: view["route"]?.integer.flatMap { StartRoute(rawValue: UInt8(clamping: $0)) }
                ?? .unspecified,
            attributes: attributes,
            onUnknownStart: view["unknown"]?.integer
                .flatMap { UnknownStartPolicy(rawValue: UInt8(clamping: $0)) } ?? .giveUp,
            onTokenGone: view["token_gone"]?.integer
                .flatMap { TokenGonePolicy(rawValue: UInt8(clamping: $0)) } ?? .stop,
            renew: view["renew"]?.integer
                .flatMap { RenewalPolicy(rawValue: UInt8(clamping: $0)) } ?? .never,
            startedAt: Instant(nanoseconds: started),
            framesShowWhen: view["frames_when"]?.integer
                .flatMap { FramesShowWhen(rawValue: UInt8(clamping: $0)) } ?? .background,
            digest: digest)
        accepted = projection
        durable = projection
        self.seq = seq
        alerts = view["alerts"]?.elements.compactMap(Projection.alert) ?? []
        if let alert = projection.alert { alerts.append(alert) }
    }

    private static func audience(_ view: JSONView) -> Audience {
        if let user = view["user"]?.string { return .user(user) }
        if let channel = view["channel"]?.string.flatMap(Identifier.init) {
            return .channel(channel)
        }
        guard let list = view["devices"] else { return .none }
        return .devices(list.elements.compactMap { $0.string.flatMap(Identifier.init) })
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

    init?(_ view: JSONView, version: Int64) {
        guard let state = view["state"]?.json, let changed = view["changed"]?.integer else {
            return nil
        }
        self.init(
            restoring: state, version: version, changedAt: Instant(nanoseconds: changed),
            relevance: view["relevance"]?.double,
            staleAfter: view["stale"]?.integer.map { Span(nanoseconds: $0) },
            urgency: Urgency(rawValue: UInt8(clamping: view["urgency"]?.integer ?? 1)) ?? .normal,
            clip: PlayingClip(view, as: "clip"), keptClip: PlayingClip(view, as: "kept"),
            alert: Self.alert(view), ending: Self.ending(view),
            stateVersion: view["sv"]?.integer)
    }

    fileprivate static func alert(_ view: JSONView) -> PendingAlert? {
        guard let content = view["alert"]?.json, let version = view["alert_version"]?.integer,
            let expires = view["alert_expires"]?.integer
        else { return nil }
        return PendingAlert(
            version: version, content: content, expiresAt: Instant(nanoseconds: expires))
    }

    private static func ending(_ view: JSONView) -> Ending? {
        guard let ended = view["ended"]?.integer else { return nil }
        let dismissal = view["dismissal"]?.string.flatMap { Dismissal(text: $0) }
        return Ending(
            at: Instant(nanoseconds: ended), dismissal: dismissal ?? .standard,
            isBare: view["bare"]?.bool ?? false)
    }
}

extension Projection.PlayingClip {
    fileprivate func write(as name: String, into writer: inout JSONWriter) {
        writer.member(name + "_version", version)
        writer.member(name + "_started", startedAt.nanoseconds)
        if case .tween(let tween) = clip.motion, tween.velocity.contains(where: { $0 != 0 }) {
            writer.name(name + "_velocity")
            writer.beginArray()
            for speed in tween.velocity { writer.double(speed) }
            writer.endArray()
        }
        writer.name(name)
        clip.write(into: &writer)
    }

    fileprivate init?(_ view: JSONView, as name: String) {
        guard let version = view[name + "_version"]?.integer,
            let started = view[name + "_started"]?.integer, let fields = view[name]
        else { return nil }
        var reader = FieldReader(fields)
        guard var clip = Clip(reading: &reader) else { return nil }
        if case .tween(let tween) = clip.motion {
            let velocity = view[name + "_velocity"]?.elements.compactMap(\.double) ?? []
            clip.motion = .tween(tween.restored(velocity: velocity))
        }
        self.init(version: version, startedAt: Instant(nanoseconds: started), clip: clip)
    }
}
