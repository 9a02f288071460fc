// The state of an easing at a moment. It is computed once and used for all components of a value.

extension Spring {
    /// The state of a spring at a moment: the closed form of x″ + 2ζωx′ + ω²x = 0. It is computed
    /// once for all components, because exponentials and sines are expensive.
    struct Moment {
        private enum Form {
            case oscillating(decay: Double, damped: Double, sine: Double, cosine: Double)
            case critical(omega: Double, time: Double)
            case creeping(slow: Double, fast: Double, fastEnvelope: Double)
        }

        private let form: Form
        /// The remaining part of the motion, from 1 down to 0; for an overdamped spring, that of
        /// its slower part.
        private let envelope: Double

        init(_ spring: Spring, after t: Double) {
            let omega = spring.frequency
            let zeta = spring.dampingFraction
            if zeta < 1 {
                let decay = zeta * omega
                let damped = omega * (1 - zeta * zeta).squareRoot()
                let wave = RealFunctions.sineAndCosine(damped * t)
                envelope = RealFunctions.exp(-decay * t)
                form = .oscillating(
                    decay: decay, damped: damped, sine: wave.sine, cosine: wave.cosine)
            } else if zeta == 1 {
                envelope = RealFunctions.exp(-omega * t)
                form = .critical(omega: omega, time: t)
            } else {
                let spread = omega * (zeta * zeta - 1).squareRoot()
                let slow = -zeta * omega + spread
                let fast = -zeta * omega - spread
                envelope = RealFunctions.exp(slow * t)
                form = .creeping(
                    slow: slow, fast: fast, fastEnvelope: RealFunctions.exp(fast * t))
            }
        }

        /// Distance from the end and velocity now, for a component with these values at the start.
        func distance(
            _ start: Double, velocity: Double
        ) -> (distance: Double, velocity: Double) {
            switch form {
            case .oscillating(let decay, let damped, let sine, let cosine):
                let other = (velocity + decay * start) / damped
                let distance = envelope * (start * cosine + other * sine)
                let change = envelope * damped * (other * cosine - start * sine)
                return (distance, change - decay * distance)
            case .critical(let omega, let time):
                let slope = velocity + omega * start
                let distance = envelope * (start + slope * time)
                return (distance, envelope * slope - omega * distance)
            case .creeping(let slow, let fast, let fastEnvelope):
                let first = (velocity - fast * start) / (slow - fast)
                let second = start - first
                let slowPart = first * envelope
                let fastPart = second * fastEnvelope
                return (slowPart + fastPart, slow * slowPart + fast * fastPart)
            }
        }
    }
}

extension Easing {
    /// The state of a tween's easing at a moment, for all components of the value.
    enum Moment {
        case curve(value: Double, velocity: Double, length: Double)
        case spring(Spring.Moment)
    }

    /// - Parameters:
    ///   - time: seconds after the start, before the end.
    ///   - length: duration of the whole tween in seconds.
    func moment(after time: Double, of length: Double) -> Moment {
        switch self {
        case .curve(let curve):
            let progress = curve.progress(at: time / length)
            return .curve(value: progress.value, velocity: progress.velocity, length: length)
        case .spring(let spring): return .spring(Spring.Moment(spring, after: time))
        }
    }
}

extension Easing.Moment {
    /// Position and speed at this moment of a component that moves from `start` to `end`.
    func course(
        from start: Double, velocity: Double, to end: Double
    ) -> (value: Double, speed: Double) {
        switch self {
        case .curve(let progress, let speed, let length):
            return (start + (end - start) * progress, (end - start) * speed / length)
        case .spring(let moment):
            let now = moment.distance(start - end, velocity: velocity)
            return (end + now.distance, now.velocity)
        }
    }
}
