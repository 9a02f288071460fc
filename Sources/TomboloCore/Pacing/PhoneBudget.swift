import TomboloJSON

extension Core {
    /// An estimate of the phone's own budget: Apple publishes none, and a phone beyond it silently
    /// ignores pushes. Nil if nothing limits, and for a channel.
    func phoneBudget(
        _ destination: Destination, _ grant: Grant, now: Instant
    ) -> PhoneBudget? {
        guard let rate = grant.perHour, !devices.traits(destination.device).isChannel else {
            return nil
        }
        let hour = grant.burst + Int64(rate)
        let spent = grant.burst - destination.pacing.bucket.left(grant, now: now)
        guard let report = devices[destination.device]?.reports[reference(destination)] else {
            return PhoneBudget(perHour: hour, left: max(0, hour - spent), basis: .assumed)
        }
        return PhoneBudget(
            perHour: hour, left: report.missesPush ? 0 : max(0, hour - spent), basis: .reported)
    }

    /// Whether a phone's report shows, after time for the last push to arrive, that it is missing.
    func misses(_ report: PhoneReport, _ destination: Destination, now: Instant) -> Bool {
        guard destination.pacing.lastSend + configuration.limits.echoGrace <= now,
            let projection = destination.final ?? activities[destination.activity].durable
        else { return false }
        return report.receivedVersion.map { $0 < destination.acknowledged }
            ?? report.receivedState.map {
                !isShown($0, projection, destination, now: now)
            } ?? false
    }

    /// The version of a state that a phone reports; nil if the relay has no such state now.
    func version(
        of state: JSON?, _ destination: Destination, now: Instant
    ) -> Int64? {
        guard let state,
            let projection = destination.final ?? activities[destination.activity].durable,
            isShown(state, projection, destination, now: now)
        else { return nil }
        return projection.version
    }
}

/// An estimate of what a phone still takes at priority 10 within an hour.
package struct PhoneBudget: Hashable, Sendable {
    /// What the estimate is based on.
    package enum Basis: UInt8, Hashable, Sendable {
        /// The class's grant: the phone has reported nothing.
        case assumed
        /// The phone has reported what it shows.
        case reported

        package var name: String { self == .assumed ? "class" : "report" }
    }

    /// In any hour: burst and refill of the class.
    package var perHour: Int64
    /// 0 also if the phone reported that it does not show what it was sent before.
    package var left: Int64
    package var basis: Basis

    package init(perHour: Int64, left: Int64, basis: Basis) {
        self.perHour = perHour
        self.left = left
        self.basis = basis
    }
}
