package import TomboloJSON

/// A value that moves from one value to another, as a function of time.
package struct Tween: Hashable, Sendable {
    /// The first value; nil: the tween starts from the value in the state.
    package private(set) var from: Animatable?
    package let to: Animatable
    /// The last value in the producer's bytes.
    package let last: JSON
    package let duration: Span?
    package let easing: Easing
    /// Interval between the frames that the producer requests.
    package let every: Span
    /// Set if the numbers are angles: then keyframes are close enough that items stay on the arc.
    package let unit: AngleUnit?
    /// Start velocity of each component, per second. A spring takes over the velocity of the tween
    /// that it replaces.
    package private(set) var velocity: [Double]
    /// Time from the first value to the last; for a spring, until it is at rest.
    package private(set) var length: Span
    /// Number of parts for keyframes before the grant limits it. It is expensive to compute and
    /// each destination reads it, so it is stored.
    private(set) var closeParts: Int64 = 1

    package static let durationRange = Span.milliseconds(10)...Span.hours(1)
    /// Duration of a timing curve if the producer gives none (SwiftUI, `Animation.linear`).
    package static let durationStandard = Span.milliseconds(350)
    /// The default: ten frames a second.
    package static let everyStandard = Span.milliseconds(100)

    /// - Parameters:
    ///   - from: has the same shape as `to`, or is nil.
    ///   - to: the last value's bytes; `animatable` is the same value, parsed.
    package init(
        from: Animatable?, to: JSON, animatable: Animatable, duration: Span?, easing: Easing,
        every: Span = Tween.everyStandard, unit: AngleUnit? = nil
    ) {
        self.from = from
        self.to = animatable
        last = to
        self.duration = duration
        self.easing = easing
        self.every = every
        self.unit = unit
        velocity = []
        length = .zero
        note()
    }

    private mutating func note() {
        length = Self.length(self)
        closeParts = findCloseParts()
    }

    /// The tween as it begins in an activity. It starts from the present value of the tween
    /// `running`, else from its own `from`, else from the value in the state. A spring also takes
    /// over the velocity of `running`.
    func begun(over present: JSONView?, following running: (Animatable, [Double])?) -> Tween {
        var tween = self
        if running == nil, from != nil { return self }
        if let (value, velocity) = running, let start = value.arranged(as: to) {
            // Round to a value that a producer could send: a head then restores exactly this value.
            tween.from = start.asGiven
            if case .spring = easing {
                tween.velocity = value.with(velocity).arranged(as: to)?.components ?? []
            }
        } else if from == nil {
            tween.from = present.flatMap(Animatable.init)?.arranged(as: to)
        }
        tween.note()
        return tween
    }

    /// The tween of a head, with the velocity that the head stores.
    func restored(velocity: [Double]) -> Tween {
        guard !velocity.isEmpty else { return self }
        var tween = self
        tween.velocity =
            velocity.count == to.components.count ? to.with(velocity).components : []
        tween.note()
        return tween
    }

    /// True if the first value is known and can be animated to the last.
    package var isPossible: Bool { from.map { $0.hasShape(of: to) } ?? false }

    /// The value after `elapsed`; after the end, exactly the last one.
    package func json(at elapsed: Span) -> JSON {
        if elapsed >= length { return last }
        return state(at: elapsed).value.json
    }

    /// Some values of the tween, to estimate its largest frame.
    var samples: [JSON] {
        let part = length.nanoseconds / Self.samplesMax
        return (0...Self.samplesMax).map { json(at: Span(nanoseconds: part * $0)) } + [last]
    }

    private static let samplesMax: Int64 = 64

    /// The value, and the velocity of each component per second.
    package func state(at elapsed: Span) -> (value: Animatable, velocity: [Double]) {
        let still = to.components.map { _ in 0.0 }
        guard let from, from.hasShape(of: to), elapsed < length else { return (to, still) }
        let moment = moment(at: elapsed)
        var values: [Double] = []
        var speeds: [Double] = []
        for index in to.components.indices {
            let now = course(of: index, from: from, at: moment)
            values.append(now.value)
            speeds.append(now.speed)
        }
        return (to.with(values), to.with(speeds).components)
    }

    func moment(at elapsed: Span) -> Easing.Moment {
        easing.moment(after: max(0, elapsed.seconds), of: length.seconds)
    }

    private func course(
        of index: Int, from start: Animatable, at moment: Easing.Moment
    ) -> (value: Double, speed: Double) {
        moment.course(
            from: start.components[index], velocity: index < velocity.count ? velocity[index] : 0,
            to: to.components[index])
    }

    /// One component's value at a moment; nil means the end.
    func value(of index: Int, at moment: Easing.Moment?) -> Double {
        guard let from, let moment else { return to.components[index] }
        return course(of: index, from: from, at: moment).value
    }

    private static func length(_ tween: Tween) -> Span {
        switch tween.easing {
        case .curve: return tween.duration ?? durationStandard
        case .spring(let spring):
            var longest = 0.0
            for (distance, speed) in courses(of: tween) {
                longest = max(longest, spring.settlingTime(distance, velocity: speed))
            }
            // `settlingTime` is at most `Spring.settlingMax`, so this fits.
            return Span(nanoseconds: Int64((longest * 1e9).rounded()))
        }
    }

    /// Start distance and velocity of the components. Of components that differ only by a factor,
    /// one is enough, because they need the same time; of many others, the largest are enough.
    private static func courses(of tween: Tween) -> [(distance: Double, speed: Double)] {
        var ways: [(distance: Double, speed: Double)] = []
        for (index, end) in tween.to.components.enumerated() {
            let start = tween.from.map {
                index < $0.components.count ? $0.components[index] : end
            }
            let speed = index < tween.velocity.count ? tween.velocity[index] : 0
            // If the start is not known yet, assume a distance of 1.
            ways.append((start.map { $0 - end } ?? 1, speed))
        }
        return courses(of: ways).map { ways[$0] }
    }

    /// Indices of the ways without those that differ from an earlier one only by a factor, the
    /// largest first, at most `coursesMax`.
    static func courses(of ways: [(distance: Double, speed: Double)]) -> [Int] {
        func size(_ index: Int) -> Double {
            ways[index].distance.magnitude + ways[index].speed.magnitude
        }
        var courses: [Int] = []
        for index in ways.indices.sorted(by: { size($0) > size($1) }) {
            let way = ways[index]
            let isKnown = courses.contains {
                ways[$0].distance * way.speed == ways[$0].speed * way.distance
            }
            if !isKnown { courses.append(index) }
            if courses.count == coursesMax { break }
        }
        return courses
    }

    /// Maximum number of ways, because each one needs the simulation of a spring.
    private static let coursesMax = 8
}
