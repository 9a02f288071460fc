import TomboloCore
import TomboloJSON

/// What the app of the terminal's phones makes of the content state that its card holds: it plays a
/// bundle by itself, frame by frame, and moves to a new turn as its type's `preview` says.
///
/// Pure: states and moments of the phone's clock in, drawings out.
struct IslandPlayer: Hashable, Sendable {
    /// A phone animates a change of state for no longer than this (Apple, "Animating state
    /// changes"). A keyframe says when it is reached; without that, no longer than the change
    /// before it lasted.
    static let glideMax = Span.seconds(2)

    /// How the app draws; the next drawing follows a change of it.
    var face = IslandFace()
    private var activity: String?
    private var state: JSON?
    private var bundle: IslandBundle?
    /// The turn that was shown when the state came.
    private var before: IslandTurn?
    private var changedAt = Instant.distantPast
    private var glideTime = Span.zero

    /// The card of an activity holds another state from a moment on; the same one once more changes
    /// nothing. A card of another activity begins at rest.
    mutating func hold(
        _ next: JSON, of activity: String?, as face: IslandFace = IslandFace(), at now: Instant
    ) {
        let isSame = activity == self.activity
        self.face = face
        guard next != state || !isSame else { return }
        before = isSame ? turn(at: now) : nil
        // SwiftUI gives a change of places its own time, however long ago the last one was.
        let since = face.preview?.radial?.moves == .places ? Self.glideMax : now - changedAt
        self.activity = activity
        state = next
        bundle = IslandBundle(next)
        glideTime =
            isSame ? min(Self.glideMax, max(.zero, Self.time(of: next, at: now) ?? since)) : .zero
        changedAt = now
    }

    /// How long it is until a keyframe is reached; nil of a state that does not say so.
    private static func time(of state: JSON, at now: Instant) -> Span? {
        guard let reached = state.document.root["clip"]?["reached"]?.double,
            reached >= 0, reached < 9e9
        else { return nil }
        return Instant(nanoseconds: Int64(reached * 1e9)) - now
    }

    /// The card is gone.
    mutating func clear() { self = IslandPlayer() }

    /// Where the items of a turn are at a moment; nil where the type has none.
    func turn(at now: Instant) -> IslandTurn? {
        guard let state, let radial = face.preview?.radial,
            let angle = face.angle(of: state.document.root)
        else { return nil }
        let end = IslandTurn(degrees: angle, of: radial.items)
        let elapsed = max(.zero, now - changedAt)
        guard let before, elapsed < glideTime else { return end }
        return before.part(elapsed.seconds / glideTime.seconds, to: end, radial.moves)
    }

    /// The state as it is drawn at a moment; nil without a card.
    func state(at now: Instant) -> JSON? {
        guard let state, let bundle else { return state }
        return state.setting(bundle.path, to: bundle.frame(at: now)) ?? state
    }

    /// What the island shows at a moment; nil without a card.
    func drawing(at now: Instant) -> IslandDrawing? {
        state(at: now).map {
            face.drawing(of: $0.document.root, turn: turn(at: now), at: now)
        }
    }

    /// A text of the island is cut after so many characters.
    static let textMax = 20

    /// A terminal obeys control characters, and a state is a stranger's text.
    static func printable(_ text: String, atMost count: Int) -> String {
        let safe = text.unicodeScalars.prefix(4 * count).map { scalar in
            scalar.properties.generalCategory == .control
                || scalar.properties.generalCategory == .format ? " " : Character(scalar)
        }
        return String(String(safe).prefix(count))
    }
}

/// All frames of a flip-book, as a content state carries them in its member `clip`:
/// `{"path","frames","every","loop","began"}`, times in seconds. Read here anew, as an app does.
struct IslandBundle: Hashable, Sendable {
    let path: JSONPointer
    private let frames: [JSON]
    private let every: Span
    /// Nil for ever.
    private let times: Int64?
    private let began: Instant

    /// Nil where the state has no such member, or one that cannot be played.
    init?(_ state: JSON) {
        let view = state.document.root["clip"]
        guard let path = view?["path"]?.string.flatMap(JSONPointer.init), !path.tokens.isEmpty,
            let every = view?["every"]?.double, every >= 0.001, every <= 3_600,
            let began = view?["began"]?.double, began >= 0, began < 9e9
        else { return nil }
        frames = view?["frames"]?.elements.map(\.json) ?? []
        let times = view?["loop"]?.integer
        guard !frames.isEmpty, times.map({ (1...1_000_000).contains($0) }) ?? true else {
            return nil
        }
        self.path = path
        self.every = Span(nanoseconds: Int64(every * 1e9))
        self.times = times
        self.began = Instant(nanoseconds: Int64(began * 1e9))
    }

    /// The frame of a moment: before its beginning the first, after its last repetition the last.
    func frame(at now: Instant) -> JSON {
        var step = max(0, (now - began).nanoseconds / every.nanoseconds)
        if let times { step = min(step, Int64(frames.count) * times - 1) }
        return frames[Int(step % Int64(frames.count))]
    }
}
