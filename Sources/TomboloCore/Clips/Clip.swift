package import TomboloJSON

/// An animation of one place in the state, as a function of time. Its frames are computed when they
/// are due, never stored or queued.
package struct Clip: Hashable, Sendable {
    /// What moves.
    package enum Motion: Hashable, Sendable {
        case flipbook(Flipbook)
        case tween(Tween)
    }

    /// The clip's clock: wall time, or only the time while any destination shows the clip.
    package enum Clock: UInt8, Hashable, Sendable {
        case wall, shown
    }

    /// How frames become pushes (pacing rule 10).
    package enum Fit: UInt8, Hashable, Sendable {
        /// `bundle` or `keyframes` if the type declares that its app can do it, else `step`.
        case auto
        /// One frame a push.
        case step
        /// All frames of a flip-book in one push; the app plays them.
        case bundle
        /// Only the ends of a tween's parts; the phone animates between them.
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

    package init(path: JSONPointer, motion: Motion) {
        self.path = path
        self.motion = motion
    }

    /// True for a flip-book.
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

    /// The producer's frames with their places in the request. For a tween: its last value, and a
    /// value between whole numbers, which the type may not allow.
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

    /// Number of different frames; for a tween, of the requested frames.
    package var frameCount: Int64 {
        switch motion {
        case .flipbook(let flipbook): Int64(flipbook.frames.count)
        case .tween: asked(after: Span(nanoseconds: .max))
        }
    }

    /// The timing of the clip, without its frames.
    var rhythm: ClipRhythm {
        switch motion {
        case .flipbook(let flipbook):
            ClipRhythm(
                every: flipbook.every, duration: flipbook.duration,
                loop: Int64(flipbook.frames.count))
        case .tween(let tween): ClipRhythm(every: tween.every, duration: tween.length, loop: nil)
        }
    }

    /// The clip's time at which a stop or an end after `elapsed` freezes it. If less is left than
    /// 250 ms and than the time between two keyframes, this is the clip's end: a phone that
    /// animates already has the last keyframe, and an earlier value would turn it back.
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

    /// Number of frames requested until `elapsed`: the first at 0, one for each `every`, and for a
    /// tween the last value.
    package func asked(after elapsed: Span) -> Int64 { rhythm.asked(after: elapsed) }

    /// The interval between a destination's frames. A loop is slowed down; a clip that plays once
    /// keeps its duration and is sampled evenly. A bundle is one push. Keyframes are as far apart
    /// as the phone can animate.
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

    /// `base` with the frame after `elapsed` at `path`; `base` itself if the parent of the place is
    /// missing.
    package func state(_ base: JSON, at elapsed: Span) -> JSON {
        base.setting(path, to: value(at: elapsed)) ?? base
    }

    /// The clip as it begins over a state. A tween takes its start from the state, or from the clip
    /// that still moves the same place; a loop with the same frames continues.
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

    /// The frame of this loop that follows the frame shown last by the loop before, counted from
    /// this loop's first frame. Nil if it does not continue that loop.
    func step(after shown: Span?, of before: PlayingClip) -> Int64? {
        guard case .flipbook(let next) = motion, case .flipbook(let old) = before.clip.motion,
            let shown, next.goesOnFrom == before.version
        else { return nil }
        let count = next.frames.count
        return Int64((old.index(at: shown) + 1 + count - (next.startAt ?? 0)) % count)
    }
}
