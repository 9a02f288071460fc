import TomboloJSON

/// The size of a push, measured before anything is stored (pacing rule 11).
struct PushSize {
    var bytes: Int
    var limit: Int
    /// True if the state of a broadcast is measured, because it has less room than the whole.
    var isOfState = false

    private var room: Int { limit - bytes }
    var isTooLarge: Bool { room < 0 }

    /// Throws if a push of this projection could exceed Apple's limit.
    ///
    /// - Parameter history: the event's rule for a history in the state; nil: none.
    static func check(
        _ projection: Projection, _ definition: Activity.Definition, alert: JSON?,
        history: StateHistory?
    ) throws(Refusal) {
        if let clip = projection.clip?.clip, clip.fit == .bundle,
            let size = ofBundle(clip, projection, definition), size.isTooLarge
        {
            throw tooLarge(size)
        }
        let state = projection.largestState
        guard !isSurelySmall(state, projection, definition, alert: alert) else { return }
        let size = Self.size(projection, state, definition, alert: alert)
        guard size.isTooLarge else { return }
        guard let clip = projection.clip ?? projection.keptClip,
            state.bytes.count > projection.state.bytes.count
        else {
            guard let history, let list = state.document.root.at(history.path), list.count > 0
            else { throw tooLarge(size) }
            throw tooLarge(
                size,
                remedy: "its history has \(list.count) lines of \(history.length) that its type "
                    + "keeps: register the type with a smaller \"length\", or shorten the state")
        }
        throw tooLarge(
            size,
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
        let largest = size(activity.accepted, shown, activity.definition, alert: nil)
        if largest.isTooLarge {
            guard clip.isFlipbook else { throw tooLarge(largest) }
            throw tooLarge(
                largest, at: "/flipbook/frames/\(longest)",
                remedy: "make the frame smaller, as tombolo clip pack --fit step does, or shorten "
                    + "the state around it")
        }
        guard clip.fit == .bundle else { return (begun, largest.bytes) }
        guard
            let size = ofBundle(begun, activity.accepted, activity.definition)
        else {
            let message = "the state has a member \"clip\" already, where the bundle goes"
            throw Refusal(
                .invalidField, message, errors: [FieldError(pointer: "/fit", message: message)])
        }
        if size.isTooLarge {
            throw tooLarge(
                size, at: "/flipbook/frames",
                remedy: "make the frames smaller, as tombolo clip pack does, or take "
                    + "\"fit\":\"step\": one frame a push")
        }
        return (begun, size.bytes)
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
    ) -> PushSize? {
        let state = clip.state(projection.state, at: .zero)
        return clip.bundled(into: state, began: projection.changedAt).map {
            size(projection, $0, definition, alert: nil)
        }
    }

    /// Maximum number of bytes that a renewal adds to the card's name in the attributes (`~1.12`).
    private static let renewalBytesMax = 8

    /// Size of a channel's id. Apple's are 16 bytes in base64; this leaves room for longer ones.
    private static let channelIDBytes = 32

    /// The size of a push with the members of both a start and an update, so that each of them
    /// fits. A broadcast starts nothing, so its size is that of an update.
    static func size(
        _ projection: Projection, _ state: JSON, _ definition: Activity.Definition, alert: JSON?
    ) -> PushSize {
        var content = Payload.Content(
            timestamp: projection.changedAt.seconds, event: .update, state: state)
        content.alert = alert ?? projection.alert?.content
        content.staleDate = projection.changedAt.seconds
        content.relevance = projection.relevance
        if definition.isOnChannel {
            // Apple takes larger broadcasts, but a phone takes no larger state: the one with less
            // room counts.
            let whole = PushSize(
                bytes: Payload.encode(content).count, limit: definition.payloadBytesMax)
            let ofState = PushSize(
                bytes: state.bytes.count, limit: Payload.bytesMax, isOfState: true)
            return ofState.room < whole.room ? ofState : whole
        }
        content.alert = content.alert ?? Core.quietAlert
        let onChannel = definition.route == .channel || definition.route == .auto
        content.start = Payload.StartContent(
            type: definition.type, attributes: definition.attributes, asksForToken: true,
            channel: onChannel ? String(repeating: "a", count: channelIDBytes) : nil)
        let renewed = definition.renew == .always ? renewalBytesMax : 0
        return PushSize(
            bytes: Payload.encode(content).count + renewed, limit: definition.payloadBytesMax)
    }

    /// A lint if a push fits but is close to the limit; else nil.
    static func lint(of activity: Activity, _ content: Command.Content) -> Lint? {
        guard content.kind == .start || content.kind == .update else { return nil }
        let projection = activity.accepted
        let state = projection.largestState
        guard !isSurelySmall(state, projection, activity.definition, alert: content.alert)
        else { return nil }
        let size = size(projection, state, activity.definition, alert: content.alert)
        return PayloadLint.nearLimit(size.bytes, of: size.limit, "/state")
    }

    private static func tooLarge(
        _ size: PushSize, at pointer: String = "/state",
        remedy: String = "shorten the state or the attributes, or send a reference that the app "
            + "resolves"
    ) -> Refusal {
        let over = size.bytes - size.limit
        return Refusal(
            .payloadTooLarge,
            "the \(size.isOfState ? "state" : "push") would have \(size.bytes) bytes, \(over) more "
                + "than the \(size.limit) that \(size.isOfState ? "ActivityKit" : "Apple") takes; "
                + remedy,
            errors: [FieldError(pointer: pointer, message: "is \(over) bytes too large")],
            bytesOver: over)
    }
}
