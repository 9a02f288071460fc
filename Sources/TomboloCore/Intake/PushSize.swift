import TomboloJSON

/// The size of a push, measured before anything is stored (pacing rule 11).
enum PushSize {
    /// Throws if a push of this projection could exceed Apple's limit.
    ///
    /// - Parameter history: the event's rule for a history in the state; nil: none.
    static func check(
        _ projection: Projection, _ definition: Activity.Definition, alert: JSON?,
        history: StateHistory?
    ) throws(Refusal) {
        if let clip = projection.clip?.clip, clip.fit == .bundle,
            let bytes = ofBundle(clip, projection, definition), bytes > Payload.bytesMax
        {
            throw tooLarge(bytes)
        }
        let state = projection.largestState
        guard !isSurelySmall(state, projection, definition, alert: alert) else { return }
        let bytes = Self.bytes(projection, state, definition, alert: alert)
        guard bytes > Payload.bytesMax else { return }
        var limit = Payload.bytesMax
        if case .channel = definition.audience {
            // Apple accepts larger broadcasts, but a phone accepts no larger state.
            limit = Payload.broadcastBytesMax
            if bytes <= limit, state.bytes.count <= Payload.bytesMax { return }
        }
        guard let clip = projection.clip ?? projection.keptClip,
            state.bytes.count > projection.state.bytes.count
        else {
            guard let history, let list = state.document.root.at(history.path), list.count > 0
            else { throw tooLarge(bytes, of: limit) }
            throw tooLarge(
                bytes, of: limit,
                remedy: "its history has \(list.count) lines of \(history.length) that its type "
                    + "keeps: register the type with a smaller \"length\", or shorten the state")
        }
        throw tooLarge(
            bytes, of: limit,
            remedy: "\(clip.name) plays, and its largest frame goes with this state; shorten "
                + "the state, or stop the clip first")
    }

    /// A fast test: true if every push fits. Most pushes then need not be encoded.
    private static func isSurelySmall(
        _ state: JSON, _ projection: Projection, _ definition: Activity.Definition, alert: JSON?
    ) -> Bool {
        let alert = alert ?? projection.alert?.content
        // JSON may need six bytes for one byte of the type's name; the other members need a few
        // hundred.
        return state.bytes.count + definition.attributes.bytes.count
            + (alert?.bytes.count ?? 0) + 6 * definition.type.utf8.count + 1_024
            <= Payload.bytesMax
    }

    /// Checks a clip. Returns the clip as it would begin now, and the size of its largest payload.
    static func examined(
        _ clip: Clip, on activity: Activity, wall: Instant
    ) throws(Refusal) -> (Clip, Int) {
        let state = activity.accepted.state(at: wall)
        let begun = clip.begun(over: state, following: activity.accepted.clip, at: wall)
        var frames: [JSON] = []
        switch begun.motion {
        case .flipbook(let flipbook): frames = flipbook.frames
        case .tween(let tween):
            try check(tween, at: clip.path, in: state)
            frames = tween.samples
        }
        try checkDepth(of: frames, at: clip.path)
        // All frames go to the same place, so the longest frame makes the largest payload.
        var longest = 0
        for index in frames.indices
        where frames[index].bytes.count > frames[longest].bytes.count { longest = index }
        guard let shown = state.setting(clip.path, to: frames[longest]) else {
            throw noPlace(clip.isFlipbook ? "flipbook" : "tween")
        }
        let largest = Self.bytes(activity.accepted, shown, activity.definition, alert: nil)
        if largest > Payload.bytesMax {
            guard clip.isFlipbook else { throw tooLarge(largest) }
            throw tooLarge(
                largest, at: "/flipbook/frames/\(longest)",
                remedy: "make the frame smaller, as tombolo clip pack --fit step does, or shorten "
                    + "the state around it")
        }
        guard clip.fit == .bundle else { return (begun, largest) }
        guard
            let bytes = ofBundle(begun, activity.accepted, activity.definition)
        else {
            let message = "the state has a member \"clip\" already, where the bundle goes"
            throw Refusal(
                .invalidField, message, errors: [FieldError(pointer: "/fit", message: message)])
        }
        if bytes > Payload.bytesMax {
            throw tooLarge(
                bytes, at: "/flipbook/frames",
                remedy: "make the frames smaller, as tombolo clip pack does, or take "
                    + "\"fit\":\"step\": one frame a push")
        }
        return (begun, bytes)
    }

    /// Throws if a frame would nest the state deeper than `JSONLimits` allows, because such a state
    /// could not be read again.
    private static func checkDepth(
        of frames: [JSON], at path: JSONPointer
    ) throws(Refusal) {
        let most = JSONLimits.stateDepthMax
        for (index, frame) in frames.enumerated() {
            // Scalars need no parsing, and most of the up to 256 frames are scalars.
            let isScalar = frame.bytes.first.map { !"{[".utf8.contains($0) } ?? true
            let depth = path.tokens.count + (isScalar ? 0 : frame.document.root.depth)
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

    /// Throws if the tween's place is not in the state, or if the tween has no start value.
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

    /// The size of the push with the bundle; nil if the state cannot contain a bundle.
    static func ofBundle(
        _ clip: Clip, _ projection: Projection, _ definition: Activity.Definition
    ) -> Int? {
        let state = clip.state(projection.state, at: .zero)
        return clip.bundled(into: state, began: projection.changedAt).map {
            bytes(projection, $0, definition, alert: nil)
        }
    }

    /// Maximum number of bytes that a renewal adds to the card's name in the attributes (`~1.12`).
    private static let renewalBytesMax = 8

    /// Size of a channel's id. Apple's are 16 bytes in base64; this leaves room for longer ones.
    private static let channelIDBytes = 32

    /// The size of a push with the members of both a start and an update, so that each of them
    /// fits.
    static func bytes(
        _ projection: Projection, _ state: JSON, _ definition: Activity.Definition, alert: JSON?
    ) -> Int {
        var content = Payload.Content(
            timestamp: projection.changedAt.seconds, event: .update, state: state)
        content.alert = alert ?? projection.alert?.content ?? Core.quietAlert
        content.staleDate = projection.changedAt.seconds
        content.relevance = projection.relevance
        let onChannel = definition.route == .channel || definition.route == .auto
        content.start = Payload.StartContent(
            type: definition.type, attributes: definition.attributes, asksForToken: true,
            channel: onChannel ? String(repeating: "a", count: channelIDBytes) : nil)
        let renewed = definition.renew == .always ? renewalBytesMax : 0
        return Payload.encode(content).count + renewed
    }

    /// A lint if a push fits but is close to the limit; else nil.
    static func lint(of activity: Activity, _ content: Command.Content) -> Lint? {
        let projection = activity.accepted
        let state = projection.largestState
        guard content.kind == .start || content.kind == .update,
            !isSurelySmall(state, projection, activity.definition, alert: content.alert)
        else { return nil }
        let bytes = bytes(projection, state, activity.definition, alert: content.alert)
        return PayloadLint.nearLimit(bytes, "/state")
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
}
