import TomboloJSON

extension Core {
    /// What the phone's own budget comes to, as far as anybody can tell: Apple publishes none, and
    /// a phone that is past it ignores pushes silently. Nil where nothing limits, and of a channel.
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

    /// Whether a phone that speaks after the last push has had its time does not show it.
    func misses(_ report: PhoneReport, _ destination: Destination, now: Instant) -> Bool {
        guard destination.pacing.lastSend + configuration.limits.echoGrace <= now,
            let projection = destination.final ?? activities[destination.activity].durable
        else { return false }
        return report.receivedVersion.map { $0 < destination.acknowledged }
            ?? report.receivedState.map {
                !isShown($0, projection, destination, now: now)
            } ?? false
    }

    /// The version of a state that a phone reports; nil where it is none that the relay has now.
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
    /// What it rests on.
    package enum Basis: UInt8, Hashable, Sendable {
        /// The class's grant: no word of the phone.
        case assumed
        /// The phone has told what it shows.
        case reported

        package var name: String { self == .assumed ? "class" : "report" }
    }

    /// In any hour: burst and refill of the class.
    package var perHour: Int64
    /// 0 also where the phone spoke, and did not show what it was sent before.
    package var left: Int64
    package var basis: Basis

    package init(perHour: Int64, left: Int64, basis: Basis) {
        self.perHour = perHour
        self.left = left
        self.basis = basis
    }
}
