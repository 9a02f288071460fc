import TomboloJSON

// What a command must fulfil, apart from the state of its activity.

extension Core {
    static func check(_ expectation: Command.Expectation, _ version: Int64) throws(Refusal) {
        guard case .version(let expected) = expectation, expected != version else { return }
        throw Refusal(
            .preconditionFailed,
            "the activity is at version \(version), not \(expected); read it again and decide anew",
            version: version)
    }

    func app(of start: Start, tenant: TenantID) throws(Refusal) -> String {
        let known = configuration.apps.filter { $0.tenant == tenant }
        guard let app = start.app else {
            if let only = configuration.onlyApp(of: tenant) { return only }
            if known.isEmpty { return "" }
            throw Refusal(
                .unknownApp, "several apps are configured; name one in \"app\"",
                errors: [FieldError(pointer: "/app", message: "is missing")])
        }
        if known.contains(where: { $0.id == app }) { return app }
        let nearest = nearestName(to: app, among: known.map(\.id))
        throw Refusal(
            .unknownApp,
            "no app \"\(app)\" is configured" + (nearest.map { "; did you mean \"\($0)\"?" } ?? "")
                + "; apps are added in the configuration file, under \"apps\"",
            errors: [FieldError(pointer: "/app", message: "is not configured")])
    }

    static func attributes(
        _ start: Start, _ reference: ActivityReference, at place: JSONPointer??
    ) throws(Refusal) -> JSON {
        // A type may say where, or that the app wants none; unregistered, it is the usual place.
        let pointer: JSONPointer? = place ?? ActivityType.defaultIDAt
        guard let idPointer = pointer else { return start.attributes }
        var writer = JSONWriter()
        writer.string(reference.text)
        let id = JSON(unchecked: writer.bytes)
        if let present = start.attributes.document.root.at(idPointer) {
            if present.string == reference.text { return start.attributes }
            let message = "is the relay's: leave it out, or write \"\(reference.text)\""
            let pointer = "/attributes\(idPointer)"
            throw Refusal(
                .invalidField, "\(pointer) \(message)",
                errors: [FieldError(pointer: pointer, message: message)])
        }
        guard let attributes = start.attributes.setting(idPointer, to: id) else {
            let message = "the type's id_at is \(idPointer), and its parent is not there"
            throw Refusal(
                .invalidField, "attributes: \(message)",
                errors: [FieldError(pointer: "/attributes", message: message)])
        }
        return attributes
    }

    static func alert(_ content: Command.Content) -> JSON? {
        switch content {
        case .start(let start): start.alert
        case .update(let update): update.alert
        case .end(let end): end.alert
        case .play, .stop: nil
        }
    }

    /// Everything that this projection may be sent as must fit (pacing rule 11).
    func checkSize(
        of projection: Projection, _ definition: Activity.Definition, alert: JSON?
    ) throws(Refusal) {
        if let clip = projection.clip?.clip, clip.fit == .bundle,
            let bytes = bundleBytes(clip, projection, definition), bytes > Payload.bytesMax
        {
            throw Self.tooLarge(bytes)
        }
        let state = projection.largestState
        guard !isSurelySmall(state, projection, definition, alert: alert) else { return }
        let bytes = payloadBytes(projection, state, definition, alert: alert)
        guard bytes > Payload.bytesMax else { return }
        var limit = Payload.bytesMax
        if case .channel = definition.audience {
            // A broadcast has room for more, of which the phone takes no more state.
            limit = Payload.broadcastBytesMax
            if bytes <= limit, state.bytes.count <= Payload.bytesMax { return }
        }
        guard let clip = projection.clip ?? projection.keptClip,
            state.bytes.count > projection.state.bytes.count
        else { throw Self.tooLarge(bytes, of: limit) }
        throw Self.tooLarge(
            bytes, of: limit,
            remedy: "\(clip.name) plays, and its largest frame goes with this state; shorten "
                + "the state, or stop the clip first")
    }

    /// Whether it fits whatever stands around it: most do, and need not be encoded to be measured.
    private func isSurelySmall(
        _ state: JSON, _ projection: Projection, _ definition: Activity.Definition, alert: JSON?
    ) -> Bool {
        let alert = alert ?? projection.alert?.content
        // In a name each byte may become six; all else there is takes a few hundred.
        return state.bytes.count + definition.attributes.bytes.count
            + (alert?.bytes.count ?? 0) + 6 * definition.type.utf8.count + 1_024
            <= Payload.bytesMax
    }

    /// The clip as it would begin now, and the largest payload among its frames.
    func examined(
        _ clip: Clip, on activity: Activity, now: Instant
    ) throws(Refusal) -> (Clip, Int) {
        let state = activity.accepted.state(at: wall(now))
        let running = activity.accepted.clip.flatMap {
            $0.clip.path == clip.path ? $0.clip.moving(at: $0.elapsed(at: wall(now))) : nil
        }
        let begun = clip.begun(over: state, following: running)
        var frames: [JSON] = []
        switch begun.motion {
        case .flipbook(let flipbook): frames = flipbook.frames
        case .tween(let tween):
            try Self.check(tween, at: clip.path, in: state)
            frames = tween.samples
        }
        try Self.checkDepth(of: frames, at: clip.path)
        var largest = (bytes: 0, frame: 0)
        for (index, frame) in frames.enumerated() {
            guard let shown = state.setting(clip.path, to: frame) else {
                throw Self.noPlace(clip.isFlipbook ? "flipbook" : "tween")
            }
            let bytes = payloadBytes(activity.accepted, shown, activity.definition, alert: nil)
            if bytes > largest.bytes { largest = (bytes, index) }
        }
        if largest.bytes > Payload.bytesMax {
            guard clip.isFlipbook else { throw Self.tooLarge(largest.bytes) }
            throw Self.tooLarge(
                largest.bytes, at: "/flipbook/frames/\(largest.frame)",
                remedy: "make the frame smaller, as tombolo clip pack --fit step does, or shorten "
                    + "the state around it")
        }
        guard clip.fit == .bundle else { return (begun, largest.bytes) }
        guard
            let bytes = bundleBytes(begun, activity.accepted, activity.definition)
        else {
            let message = "the state has a member \"clip\" already, where the bundle goes"
            throw Refusal(
                .invalidField, message, errors: [FieldError(pointer: "/fit", message: message)])
        }
        if bytes > Payload.bytesMax {
            throw Self.tooLarge(
                bytes, at: "/flipbook/frames",
                remedy: "make the frames smaller, as tombolo clip pack does, or take "
                    + "\"fit\":\"step\": one frame a push")
        }
        return (begun, bytes)
    }

    /// A frame becomes a part of the state: deeper than a state may be, it could not be read again.
    private static func checkDepth(
        of frames: [JSON], at path: JSONPointer
    ) throws(Refusal) {
        let most = JSONLimits.stateDepthMax
        for (index, frame) in frames.enumerated() {
            let depth = path.tokens.count + frame.document.root.depth
            guard depth > most else { continue }
            let message = "nests \(depth) levels deep in the state, where \(most) are allowed"
            throw Refusal(
                .invalidField, "flipbook.frames.\(index) \(message); put the frame less deep",
                errors: [FieldError(pointer: "/flipbook/frames/\(index)", message: message)])
        }
    }

    private static func noPlace(_ motion: String) -> Refusal {
        let message = "points to nothing in the state; its parent must be there"
        return Refusal(
            .invalidField, "\(motion).path \(message)",
            errors: [FieldError(pointer: "/\(motion)/path", message: message)])
    }

    /// A tween needs a place in the state, and a value to begin with.
    private static func check(
        _ tween: Tween, at path: JSONPointer, in state: JSON
    ) throws(Refusal) {
        guard state.setting(path, to: tween.last) != nil else { throw noPlace("tween") }
        guard !tween.isPossible else { return }
        let found =
            state.document.root.at(path) == nil
            ? "the state has nothing at \(path) to begin with"
            : "the state has a value of another kind at \(path) than to"
        let message = "is missing, and \(found); give from"
        throw Refusal(
            .invalidField, "tween.from \(message)",
            errors: [FieldError(pointer: "/tween/from", message: message)])
    }

    /// The size of the push that carries all frames; nil where the state has no room for them.
    func bundleBytes(
        _ clip: Clip, _ projection: Projection, _ definition: Activity.Definition
    ) -> Int? {
        let state = clip.state(projection.state, at: .zero)
        return clip.bundled(into: state, began: projection.changedAt).map {
            payloadBytes(projection, $0, definition, alert: nil)
        }
    }

    /// What the name of a renewed card is longer by (`~1.12`, in the attributes).
    private static let renewalBytesMax = 8

    /// The larger of a start's and an update's body.
    func payloadBytes(
        _ projection: Projection, _ state: JSON, _ definition: Activity.Definition, alert: JSON?
    ) -> Int {
        var content = Payload.Content(
            timestamp: projection.changedAt.seconds, event: .update, state: state)
        content.alert = alert ?? projection.alert?.content
        content.staleDate = projection.changedAt.seconds
        content.relevance = projection.relevance
        content.start = Payload.StartContent(
            type: definition.type, attributes: definition.attributes, asksForToken: true)
        let renewed = definition.renew == .always ? Self.renewalBytesMax : 0
        return Payload.encode(content).count + renewed
    }

    private static func tooLarge(
        _ bytes: Int, of limit: Int = Payload.bytesMax, at pointer: String = "/state",
        remedy: String = "shorten the state or the attributes, or send a reference that the app "
            + "resolves"
    ) -> Refusal {
        let over = max(1, bytes - limit)
        return Refusal(
            .payloadTooLarge,
            "the push would have \(bytes) bytes, \(over) more than the \(limit) that "
                + "Apple takes; \(remedy)",
            errors: [FieldError(pointer: pointer, message: "is \(over) bytes too large")],
            bytesOver: over)
    }

    /// Tells an equal start from a different one: every byte of the producer's but the envelope
    /// counts.
    static func digest(_ command: Command) -> UInt64 {
        guard case .start(let start) = command.content else { return 0 }
        var hash = StableHash()
        hash.combine(start.type.utf8)
        hash.combine((start.app ?? "").utf8)
        hash.combine("\(start.audience) \(start.route.rawValue)".utf8)
        hash.combine(start.attributes.bytes)
        hash.combine(start.state.bytes)
        hash.combine(start.alert?.bytes ?? [])
        if start.framesShowWhen == .always { hash.combine("frames always".utf8) }
        if let policy = start.onTokenGone { hash.combine("gone \(policy.rawValue)".utf8) }
        if let policy = start.onUnknownStart { hash.combine("unknown \(policy.rawValue)".utf8) }
        if let wait = start.startWait { hash.combine("wait \(wait.nanoseconds)".utf8) }
        if start.urgency != .normal { hash.combine("urgency \(start.urgency.rawValue)".utf8) }
        if start.alertTTL != Alert.defaultTTL {
            hash.combine("ttl \(start.alertTTL.nanoseconds)".utf8)
        }
        if let policy = start.renew { hash.combine("renew \(policy.rawValue)".utf8) }
        hash.combine("\(start.relevance ?? .nan) \(start.staleAfter?.nanoseconds ?? 0)".utf8)
        return hash.value
    }
}
