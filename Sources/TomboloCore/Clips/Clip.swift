package import TomboloJSON

/// An animation of one place in the state, as a function of time. Its frames are sampled, never
/// stored or queued.
package struct Clip: Hashable, Sendable {
    /// What moves.
    package enum Motion: Hashable, Sendable {
        case flipbook(Flipbook)
        case tween(Tween)
    }

    /// Whose time moves it: the wall's, or only the time in which any destination shows it.
    package enum Clock: UInt8, Hashable, Sendable {
        case wall, shown
    }

    /// How frames become pushes (pacing rule 10).
    package enum Fit: UInt8, Hashable, Sendable {
        /// A bundle or keyframes where the type declares that its app can, else `step`.
        case auto
        /// One frame a push.
        case step
        /// All frames of a flip-book in one push: the app plays them.
        case bundle
        /// The ends of a tween's parts: the phone fills in what is between.
        case keyframes

        static let choices: [(String, Fit)] = [
            ("auto", .auto), ("step", .step), ("bundle", .bundle), ("keyframes", .keyframes),
        ]

        package var name: String { Self.choices[Int(rawValue)].0 }
    }

    /// Where in the state the frame stands.
    package var path: JSONPointer
    package var motion: Motion
    package var clock: Clock = .wall
    package var fit: Fit = .auto
    package var urgency: Urgency = .normal

    package init(path: JSONPointer, motion: Motion) {
        self.path = path
        self.motion = motion
    }

    /// Of frames that are shown in turn.
    var isFlipbook: Bool { if case .flipbook = motion { true } else { false } }

    /// The interval of the frames that the producer asks for.
    package var every: Span {
        switch motion {
        case .flipbook(let flipbook): flipbook.every
        case .tween(let tween): tween.every
        }
    }

    /// How long it plays; nil for ever.
    package var duration: Span? {
        switch motion {
        case .flipbook(let flipbook): flipbook.duration
        case .tween(let tween): tween.length
        }
    }

    /// What the producer wrote to stand at `path`, with its place in the request: of a tween its
    /// last value, and one between whole numbers, which a type may not take.
    package var givenFrames: [(pointer: String, frame: JSON)] {
        switch motion {
        case .flipbook(let flipbook):
            flipbook.frames.enumerated().map { ("/flipbook/frames/\($0.offset)", $0.element) }
        case .tween(let tween):
            [
                ("/tween/to", tween.last),
                ("/tween/to", tween.json(at: Span(nanoseconds: tween.length.nanoseconds / 3))),
            ]
        }
    }

    /// The frame of the most bytes: of a tween, among so many that they stand for the rest.
    var largestFrame: JSON {
        let frames: [JSON]
        switch motion {
        case .flipbook(let flipbook): frames = flipbook.frames
        case .tween(let tween): frames = tween.samples
        }
        return frames.max { $0.bytes.count < $1.bytes.count } ?? .null
    }

    /// How many different frames it has: of a tween those that are asked for.
    package var frameCount: Int64 {
        switch motion {
        case .flipbook(let flipbook): Int64(flipbook.frames.count)
        case .tween: asked(after: Span(nanoseconds: .max))
        }
    }

    /// Its time, without its frames.
    var rhythm: ClipRhythm {
        switch motion {
        case .flipbook(let flipbook):
            ClipRhythm(
                every: flipbook.every, duration: flipbook.duration,
                loop: Int64(flipbook.frames.count))
        case .tween(let tween): ClipRhythm(every: tween.every, duration: tween.length, loop: nil)
        }
    }

    /// The time that a stop or an end after `elapsed` freezes: the end, where less is left than the
    /// shorter of 250 ms and a part between two keyframes. A phone that animates has the last
    /// keyframe by then, and a value from before would turn it back.
    func frozen(after elapsed: Span) -> Span {
        guard case .tween(let tween) = motion, fit != .step else { return elapsed }
        let near = min(.milliseconds(250), tween.keyframeInterval(granted: .zero))
        return tween.length - elapsed < near ? max(elapsed, tween.length) : elapsed
    }

    /// What stands at `path` after `elapsed` of the clip's clock.
    package func value(at elapsed: Span) -> JSON {
        switch motion {
        case .flipbook(let flipbook): flipbook.frames[flipbook.index(at: elapsed)]
        case .tween(let tween): tween.json(at: elapsed)
        }
    }

    /// How many frames the producer has asked for after `elapsed`: the first at 0, then one each
    /// `every`, and of a tween the last value.
    package func asked(after elapsed: Span) -> Int64 { rhythm.asked(after: elapsed) }

    /// The interval at which a destination samples it. A loop is slowed; what plays once keeps its
    /// duration and is sampled evenly. A bundle is one push, and keyframes stand as far apart as
    /// the phone can fill in.
    package func step(granted: Span, fit: Fit = .step) -> Span {
        if fit == .bundle { return every }
        if fit == .keyframes, case .tween(let tween) = motion {
            return tween.keyframeInterval(granted: granted)
        }
        let interval = max(every, granted)
        guard let duration, duration > .zero, interval > every else { return interval }
        let samples = max(1, duration.nanoseconds / max(1, interval.nanoseconds))
        return Span(nanoseconds: duration.nanoseconds / samples)
    }

    /// `base` with the frame of an instant of the clip's clock at `path`; `base` itself where its
    /// parent is not there.
    package func state(_ base: JSON, at elapsed: Span) -> JSON {
        base.setting(path, to: value(at: elapsed)) ?? base
    }

    /// The clip as it begins over a state: a tween takes its start from there, or from the clip
    /// before it that still moves the same place; a loop of the same frames goes on.
    func begun(over state: JSON, following running: PlayingClip?, at instant: Instant) -> Clip {
        var clip = self
        let before = running.flatMap { $0.clip.path == path ? $0 : nil }
        switch (motion, before?.clip.motion) {
        case (.flipbook(let next), .flipbook(let old)):
            guard let before else { break }
            let elapsed = before.elapsed(at: instant)
            clip.motion = .flipbook(next.goingOn(from: old, before.version, at: elapsed))
        case (.flipbook, _): break
        case (.tween(let tween), let old):
            var moving: (Animatable, [Double])?
            if case .tween(let one)? = old, let elapsed = before?.elapsed(at: instant),
                elapsed < one.length
            {
                moving = one.state(at: elapsed)
            }
            clip.motion = .tween(tween.begun(over: state.document.root.at(path), following: moving))
        }
        return clip
    }

    /// Which frame a loop shows after the one that a loop before it showed last, counted from its
    /// own first; nil where it does not go on from there.
    func step(after shown: Span?, of before: PlayingClip) -> Int64? {
        guard case .flipbook(let next) = motion, case .flipbook(let old) = before.clip.motion,
            let shown, next.goesOnFrom == before.version
        else { return nil }
        let count = next.frames.count
        return Int64((old.index(at: shown) + 1 + count - (next.startAt ?? 0)) % count)
    }
}
