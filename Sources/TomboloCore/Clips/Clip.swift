package import TomboloJSON

/// An animation of one place in the state, as a function of time. Its frames are computed when they
/// are due, never stored or queued.
package struct Clip: Hashable, Sendable {
    /// What the clip shows: frames in turn, or values between two ends.
    package enum Motion: Hashable, Sendable {
        case flipbook(Flipbook)
        case tween(Tween)
    }

    /// What advances the clip: wall time, or only the time while a destination shows the clip.
    package enum Clock: UInt8, Hashable, Sendable {
        case wall, shown
    }

    /// How frames become pushes (pacing rule 10).
    package enum Fit: UInt8, Hashable, Sendable {
        /// `bundle` or `keyframes` if the type declares that its app supports it, else `step`.
        case auto
        /// One push for each frame.
        case step
        /// All frames of a flip-book in one push; the app plays them.
        case bundle
        /// Only the end of each part of a tween; the phone animates between them.
        case keyframes

        static let choices: [(String, Fit)] = [
            ("auto", .auto), ("step", .step), ("bundle", .bundle), ("keyframes", .keyframes),
        ]

        package var name: String { Self.choices[Int(rawValue)].0 }
    }

    /// Place of the frame in the state.
    package var path: JSONPointer
    package var motion: Motion
    package var clock: Clock = .wall
    package var fit: Fit = .auto
    package var urgency: Urgency = .normal

    var isFlipbook: Bool { if case .flipbook = motion { true } else { false } }

    /// Interval between frames, as requested by the producer.
    package var every: Span {
        switch motion {
        case .flipbook(let flipbook): flipbook.every
        case .tween(let tween): tween.every
        }
    }

    /// How long the clip plays; nil: for ever.
    package var duration: Span? {
        switch motion {
        case .flipbook(let flipbook): flipbook.duration
        case .tween(let tween): tween.length
        }
    }

    /// Frames to check against the type, each with its place in the request. A flip-book gives all
    /// of them. A tween gives its last value and one intermediate value, which is usually not a
    /// whole number; the type may not allow that.
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

    /// The largest frame in bytes; for a tween, the largest of some samples.
    var largestFrame: JSON {
        let frames: [JSON]
        switch motion {
        case .flipbook(let flipbook): frames = flipbook.frames
        case .tween(let tween): frames = tween.samples
        }
        return frames.max { $0.bytes.count < $1.bytes.count } ?? .null
    }

    /// Number of different frames; for a tween, the number of frames that it requests.
    package var frameCount: Int64 {
        switch motion {
        case .flipbook(let flipbook): Int64(flipbook.frames.count)
        case .tween: asked(after: Span(nanoseconds: .max))
        }
    }

    var rhythm: ClipRhythm {
        switch motion {
        case .flipbook(let flipbook):
            ClipRhythm(
                every: flipbook.every, duration: flipbook.duration,
                loop: Int64(flipbook.frames.count))
        case .tween(let tween): ClipRhythm(every: tween.every, duration: tween.length, loop: nil)
        }
    }

    /// The clip's time that a stop or an end after `elapsed` keeps. If less time is left than 250
    /// ms and than one interval of keyframes, this is the clip's end: a phone that animates has the
    /// last keyframe already, and an earlier value would make it go back.
    func frozen(after elapsed: Span) -> Span {
        guard case .tween(let tween) = motion, fit != .step else { return elapsed }
        let near = min(.milliseconds(250), tween.keyframeInterval(granted: .zero))
        return tween.length - elapsed < near ? max(elapsed, tween.length) : elapsed
    }

    /// The frame after `elapsed` of the clip's clock.
    package func value(at elapsed: Span) -> JSON {
        switch motion {
        case .flipbook(let flipbook): flipbook.frames[flipbook.index(at: elapsed)]
        case .tween(let tween): tween.json(at: elapsed)
        }
    }

    /// Number of frames requested until `elapsed`: one at 0, one more for each `every`, and for a
    /// tween the last value.
    package func asked(after elapsed: Span) -> Int64 { rhythm.asked(after: elapsed) }

    /// The interval between a destination's frames if the grant allows one push for each `granted`.
    /// A loop is slowed down; a clip that plays once keeps its duration and is sampled evenly. A
    /// bundle keeps the producer's interval. Keyframes are as far apart as the phone can animate.
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

    /// `base` with the frame after `elapsed` at `path`; unchanged if the parent of `path` is
    /// missing.
    package func state(_ base: JSON, at elapsed: Span) -> JSON {
        base.setting(path, to: value(at: elapsed)) ?? base
    }

    /// The clip as it begins on a state. A tween begins at the value in the state, or at the value
    /// of the running clip that it replaces at the same place. A loop with the same frames
    /// continues the old loop.
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

    /// The number of the frame in this loop that comes after the last shown frame of the loop
    /// `before`, counted from this loop's first frame. Nil if this loop does not continue `before`.
    func step(after shown: Span?, of before: PlayingClip) -> Int64? {
        guard case .flipbook(let next) = motion, case .flipbook(let old) = before.clip.motion,
            let shown, next.goesOnFrom == before.version
        else { return nil }
        let count = next.frames.count
        return Int64((old.index(at: shown) + 1 + count - (next.startAt ?? 0)) % count)
    }
}
