package import TomboloJSON

/// A value that goes from one to another in time: a function of time, as every clip is.
package struct Tween: Hashable, Sendable {
    /// Where it begins, as its producer wrote it; nil where it begins with what the state holds.
    package private(set) var from: Animatable?
    package let to: Animatable
    /// The last value, byte for byte.
    package let last: JSON
    package let duration: Span?
    package let easing: Easing
    /// How often the producer asks for a frame.
    package let every: Span
    /// Set where its numbers are angles: then keyframes stand close enough to stay on the arc.
    package let unit: AngleUnit?
    /// Speed at the start, of each component, a second: a spring takes over that of the tween
    /// before.
    package private(set) var velocity: [Double]
    /// From the first value to the last: a spring's is until it is at rest.
    package private(set) var length: Span
    /// Into so many parts it is cut for keyframes where nothing else limits them. Kept, as it takes
    /// long to find, and each destination asks.
    private(set) var closeParts: Int64 = 1

    package static let durationRange = Span.milliseconds(10)...Span.hours(1)
    /// Of a timing curve without one (SwiftUI, `Animation.linear`).
    package static let durationStandard = Span.milliseconds(350)
    /// Ten frames a second, unless a producer asks otherwise.
    package static let everyStandard = Span.milliseconds(100)

    /// - Parameters:
    ///   - from: of the same shape as `to`, or nil.
    ///   - to: the last value as it is written; `animatable` is what it says.
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

    /// The tween as it begins at one moment of an activity: from the value that a running tween
    /// shows, else from its own `from`, else from what the state holds; a spring with the speed of
    /// the running one.
    func begun(over present: JSONView?, following running: (Animatable, [Double])?) -> Tween {
        var tween = self
        if running == nil, from != nil { return self }
        if let (value, velocity) = running, let start = value.arranged(as: to) {
            // As its producer could have written it: so it is read again from a head.
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

    /// As a head keeps it: nothing is decided anew.
    func restored(velocity: [Double]) -> Tween {
        guard !velocity.isEmpty else { return self }
        var tween = self
        tween.velocity =
            velocity.count == to.components.count ? to.with(velocity).components : []
        tween.note()
        return tween
    }

    /// Whether there is a way from its first value to its last.
    package var isPossible: Bool { from.map { $0.hasShape(of: to) } ?? false }

    /// The value after `elapsed`; the last one exactly, for ever after the end.
    package func json(at elapsed: Span) -> JSON {
        if elapsed >= length { return last }
        return state(at: elapsed).value.json
    }

    /// Values whose size is tried before it plays: it has too many to try them all.
    var samples: [JSON] {
        let part = length.nanoseconds / Self.samplesMax
        return (0...Self.samplesMax).map { json(at: Span(nanoseconds: part * $0)) } + [last]
    }

    private static let samplesMax: Int64 = 64

    /// The value and its speed, of each component a second.
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

    /// What a moment before the end is for all components.
    func moment(at elapsed: Span) -> Easing.Moment {
        easing.moment(after: max(0, elapsed.seconds), of: length.seconds)
    }

    /// One component at a moment.
    private func course(
        of index: Int, from start: Animatable, at moment: Easing.Moment
    ) -> (value: Double, speed: Double) {
        moment.course(
            from: start.components[index], velocity: index < velocity.count ? velocity[index] : 0,
            to: to.components[index])
    }

    /// One component's value at a moment; nil is the end and all that comes after it.
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
            // At most `Spring.settlingMax`.
            return Span(nanoseconds: Int64((longest * 1e9).rounded()))
        }
    }

    /// Where components begin, from their ends, and how fast; each course once. Two that differ
    /// only in size take the same time, and of many courses the largest stand for the rest.
    private static func courses(of tween: Tween) -> [(distance: Double, speed: Double)] {
        var ways: [(distance: Double, speed: Double)] = []
        for (index, end) in tween.to.components.enumerated() {
            let start = tween.from.map {
                index < $0.components.count ? $0.components[index] : end
            }
            let speed = index < tween.velocity.count ? tween.velocity[index] : 0
            // Without a start it is not known yet: as long as the way of 1.
            ways.append((start.map { $0 - end } ?? 1, speed))
        }
        return courses(of: ways).map { ways[$0] }
    }

    /// Which of these ways differ in more than their size, the largest first.
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

    /// Each costs a simulated spring.
    private static let coursesMax = 8
}
