import TomboloJSON

extension Core {
    /// An estimate of the phone's own budget, which Apple does not publish. A phone that has used
    /// it up silently ignores pushes. Nil for a channel, and if no bucket limits the pushes.
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

    /// True if a phone's report shows that the last push is missing, although it had time to
    /// arrive.
    func misses(_ report: PhoneReport, _ destination: Destination, now: Instant) -> Bool {
        guard destination.pacing.lastSend + configuration.limits.echoGrace <= now,
            let projection = destination.final ?? activities[destination.activity].durable
        else { return false }
        return report.receivedVersion.map { $0 < destination.acknowledged }
            ?? report.receivedState.map {
                !isShown($0, projection, destination, now: now)
            } ?? false
    }

    /// The version of a state in a phone's report: that of the present state if it is that one,
    /// else the one that the state itself contains; nil if it contains none.
    func version(
        of state: JSON?, _ destination: Destination, now: Instant
    ) -> Int64? {
        guard let state,
            let projection = destination.final ?? activities[destination.activity].durable
        else { return nil }
        if isShown(state, projection, destination, now: now) { return projection.version }
        let activity = activities[destination.activity]
        return types.version(in: state, activity.definition, activity.key.tenant)
            .flatMap { $0 >= 1 && $0 < projection.version ? $0 : nil }
    }
}

/// An estimate of how many pushes at priority 10 a phone still accepts within an hour.
package struct PhoneBudget: Hashable, Sendable {
    /// What the estimate is based on.
    package enum Basis: UInt8, Hashable, Sendable {
        /// The grant only, because the phone has reported nothing.
        case assumed
        /// A report of the phone about its state.
        case reported

        package var name: String { self == .assumed ? "class" : "report" }
    }

    /// Pushes in an hour: burst and refill of the class.
    package var perHour: Int64
    /// How many are left; 0 if the phone has reported that it lacks the last push.
    package var left: Int64
    package var basis: Basis
}
