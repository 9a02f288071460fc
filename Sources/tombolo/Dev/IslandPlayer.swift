import TomboloCore
import TomboloJSON

/// How the app of the terminal's phones shows its card's content state: it plays a bundle frame by
/// frame, and animates turns as its type's `preview` says.
///
/// Pure: takes states and times of the phone's clock, returns drawings.
struct IslandPlayer: Hashable, Sendable {
    /// Longest animation of a change of state (Apple, "Animating state changes"). A keyframe says
    /// when it is reached; another change takes no longer than the time since the one before.
    static let glideMax = Span.seconds(2)

    /// How the app draws. A change applies to the next drawing.
    var face = IslandFace()
    private var activity: String?
    private var state: JSON?
    private var bundle: IslandBundle?
    /// The turn that was shown when the new state came.
    private var before: IslandTurn?
    private var changedAt = Instant.distantPast
    private var glideTime = Span.zero

    /// Shows another state of an activity's card from `now` on. The same state again changes
    /// nothing. The card of another activity begins without an animation.
    mutating func hold(
        _ next: JSON, of activity: String?, as face: IslandFace = IslandFace(), at now: Instant
    ) {
        let isSame = activity == self.activity
        self.face = face
        guard next != state || !isSame else { return }
        before = isSame ? turn(at: now) : nil
        // SwiftUI animates a change of places for a fixed time, whenever the last change was.
        let since = face.preview?.radial?.moves == .places ? Self.glideMax : now - changedAt
        self.activity = activity
        state = next
        bundle = IslandBundle(next)
        glideTime =
            isSame ? min(Self.glideMax, max(.zero, Self.time(of: next, at: now) ?? since)) : .zero
        changedAt = now
    }

    /// The time until a keyframe is reached; nil if the state has no such time.
    private static func time(of state: JSON, at now: Instant) -> Span? {
        guard let reached = state.document.root["clip"]?["reached"]?.double,
            reached >= 0, reached < 9e9
        else { return nil }
        return Instant(nanoseconds: Int64(reached * 1e9)) - now
    }

    /// Removes the card.
    mutating func clear() { self = IslandPlayer() }

    /// The turn at a moment; nil if the type has none.
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

    /// The island's content at a moment; nil without a card.
    func drawing(at now: Instant) -> IslandDrawing? {
        state(at: now).map {
            face.drawing(of: $0.document.root, turn: turn(at: now), at: now)
        }
    }

    /// Longest text in an island, in characters.
    static let textMax = 20

    /// Removes control characters, which a terminal would obey: strangers may write states.
    static func printable(_ text: String, atMost count: Int) -> String {
        let safe = text.unicodeScalars.prefix(4 * count).map { scalar in
            scalar.properties.generalCategory == .control
                || scalar.properties.generalCategory == .format ? " " : Character(scalar)
        }
        return String(String(safe).prefix(count))
    }
}

/// All frames of a flip-book, as a content state has them in its member `clip`:
/// `{"path","frames","every","loop","began"}`, times in seconds. Parsed here as an app would do it.
struct IslandBundle: Hashable, Sendable {
    let path: JSONPointer
    private let frames: [JSON]
    private let every: Span
    /// How often the clip plays; nil: for ever.
    private let times: Int64?
    private let began: Instant

    /// Nil if the state has no such member, or one that cannot be played.
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

    /// The frame at a moment: the first before the beginning, the last after the last repetition.
    func frame(at now: Instant) -> JSON {
        var step = max(0, (now - began).nanoseconds / every.nanoseconds)
        if let times { step = min(step, Int64(frames.count) * times - 1) }
        return frames[Int(step % Int64(frames.count))]
    }
}
