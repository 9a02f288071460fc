import TomboloCore
import TomboloJSON

/// Shows a card's content state like an app. It plays a flip-book frame by frame, and animates
/// rotations as the type's `preview` says.
///
/// Pure: its input is states and times of the phone's clock, its output drawings.
struct IslandPlayer: Hashable, Sendable {
    /// Longest animation of a change of state (Apple, "Animating state changes"). A keyframe has
    /// its own time. Another change takes at most as long as the time since the previous one.
    static let glideMax = Span.seconds(2)

    /// How the app draws. If it changes, the next drawing uses it.
    var face = IslandFace()
    private var activity: String?
    private var state: JSON?
    private var bundle: IslandBundle?
    /// The rotation that was shown when the new state came.
    private var before: IslandTurn?
    private var changedAt = Instant.distantPast
    private var glideTime = Span.zero

    /// Shows another state of an activity's card from `now` on. An equal state changes nothing. The
    /// card of another activity begins without an animation.
    mutating func hold(
        _ next: JSON, of activity: String?, as face: IslandFace = IslandFace(), at now: Instant
    ) {
        let isSame = activity == self.activity
        self.face = face
        guard next != state || !isSame else { return }
        before = isSame ? turn(at: now) : nil
        // SwiftUI animates a change of places for a fixed time, no matter when the last change was.
        let since = face.preview?.radial?.moves == .places ? Self.glideMax : now - changedAt
        self.activity = activity
        state = next
        bundle = IslandBundle(next)
        glideTime =
            isSame ? min(Self.glideMax, max(.zero, Self.time(of: next, at: now) ?? since)) : .zero
        changedAt = now
    }

    /// The time from now until the state's keyframe is reached; nil if it has none.
    private static func time(of state: JSON, at now: Instant) -> Span? {
        guard let reached = state.document.root["clip"]?["reached"]?.double,
            reached >= 0, reached < 9e9
        else { return nil }
        return Instant(nanoseconds: Int64(reached * 1e9)) - now
    }

    /// Removes the card.
    mutating func clear() { self = IslandPlayer() }

    /// The rotation at a moment; nil if the type's preview is not radial.
    func turn(at now: Instant) -> IslandTurn? {
        guard let state, let radial = face.preview?.radial,
            let angle = face.angle(of: state.document.root)
        else { return nil }
        let end = IslandTurn(degrees: angle, of: radial.items)
        let elapsed = max(.zero, now - changedAt)
        guard let before, elapsed < glideTime else { return end }
        return before.part(elapsed.seconds / glideTime.seconds, to: end, radial.moves)
    }

    /// The state as it is drawn at a moment; nil if there is no card.
    func state(at now: Instant) -> JSON? {
        guard let state, let bundle else { return state }
        return state.setting(bundle.path, to: bundle.frame(at: now)) ?? state
    }

    /// The island's content at a moment; nil if there is no card.
    func drawing(at now: Instant) -> IslandDrawing? {
        state(at: now).map { face.drawing(of: $0.document.root, turn: turn(at: now), at: now) }
    }

    /// Maximum number of characters of a text in an island.
    static let textMax = 20

    /// Replaces control characters, as strangers may write states and the terminal would obey.
    static func printable(_ text: String, atMost count: Int) -> String {
        let safe = text.unicodeScalars.prefix(4 * count).map { scalar in
            scalar.properties.generalCategory == .control
                || scalar.properties.generalCategory == .format ? " " : Character(scalar)
        }
        return String(String(safe).prefix(count))
    }
}

/// All frames of a flip-book, as the member `clip` of a content state has them:
/// `{"path","frames","every","loop","began"}`, with times in seconds. It is parsed here as an app
/// would do it.
struct IslandBundle: Hashable, Sendable {
    let path: JSONPointer
    private let frames: [JSON]
    private let every: Span
    /// How often the clip is played; nil means for ever.
    private let times: Int64?
    private let began: Instant

    /// Nil if the state has no such member, or if it cannot be played.
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

    /// The frame at a moment. Before the beginning it is the first frame, and after the last
    /// repetition the last.
    func frame(at now: Instant) -> JSON {
        var step = max(0, (now - began).nanoseconds / every.nanoseconds)
        if let times { step = min(step, Int64(frames.count) * times - 1) }
        return frames[Int(step % Int64(frames.count))]
    }
}
