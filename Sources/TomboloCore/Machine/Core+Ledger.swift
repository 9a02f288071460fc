import TomboloJSON

// Decisions add up: every event ends in exactly one at each destination, and each is told.

extension Core {
    /// All versions up to `version` have their decision at a destination.
    mutating func decide(
        _ slot: Int, through version: Int64, _ decision: EventDecision,
        push: DeliveryView? = nil, now: Instant
    ) {
        guard destinations.holds(slot),
            push != nil || destinations[slot].ledger.decidedThrough < version
        else { return }
        let activity = destinations[slot].activity
        let superseded = activities[activity].superseded
        let decided = destinations[slot].ledger.decide(
            through: version, decision, superseded: superseded)
        guard decided != nil || push != nil else { return }
        let isUsual = decision == .sent || decision == .merged || decision == .unchanged
        markDirty(slot, mayWait: isUsual, now: now)
        tell(slot, version, decided, decided == nil ? nil : decision, push, now: now)
    }

    /// Nothing that waits at a destination will be sent any more.
    mutating func decideRest(_ slot: Int, _ decision: EventDecision, now: Instant) {
        guard let version = projection(slot)?.version else { return }
        decide(slot, through: version, decision, now: now)
    }

    /// A push that decided nothing is told all the same.
    mutating func tell(
        _ slot: Int, _ version: Int64, _ decided: ClosedRange<Int64>?, _ decision: EventDecision?,
        _ push: DeliveryView?, now: Instant
    ) {
        guard let device = devices[destinations[slot].device]?.key.id else { return }
        let key = activities[destinations[slot].activity].key
        deliveries.append(
            DeliveryLog.Entry(
                number: 0, at: wall(now), tenant: key.tenant, activity: key.id,
                device: device, decided: decided, version: version, decision: decision,
                push: push))
    }

    /// An alert past its time, or behind too many others, rings no more at a destination; its state
    /// goes all the same, and has a decision of its own.
    mutating func expire(_ alert: Projection.PendingAlert, at slot: Int, now: Instant) {
        destinations[slot].alertsThrough = alert.version
        markDirty(slot, now: now)
        guard let destination = destinations.at(slot) else { return }
        let activity = activities[destination.activity]
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("device", devices[destination.device]?.key.id.rawValue ?? "")
        writer.member("version", alert.version)
        writer.endObject()
        note(activity.key.tenant, activity.number, "alert.expired", writer.bytes, now: now)
    }

    /// The oldest of too many alerts goes: where it waits still, it has expired.
    mutating func dropAlert(of activity: Int, now: Instant) {
        let alert = activities[activity].alerts.removeFirst()
        for slot in activities[activity].destinations
        where destinations[slot].waits(for: alert) {
            expire(alert, at: slot, now: now)
        }
    }

    /// The newest decisions of a tenant.
    package func deliveries(
        of tenant: TenantID, activity: Identifier?, device: Identifier?, before: Int64?,
        limit: Int
    ) -> [DeliveryLog.Entry] {
        deliveries.newest(
            of: tenant, activity: activity, device: device, before: before, limit: limit)
    }

    /// The books of an activity's destinations; nil for an activity that is not there.
    package func ledgers(of key: ActivityKey, now: Instant) -> [LedgerView]? {
        guard let slot = activityByKey[key], activities[slot].durable != nil else { return nil }
        return activities[slot].destinations.compactMap { index in
            guard let destination = destinations.at(index), let projection = projection(index),
                let device = devices[destination.device]
            else { return nil }
            // Of one moment, so that the seconds add up to what they are the seconds of.
            let cursor = destination.cursor?.accounted(at: wall(now))
            return LedgerView(
                device: device.key.id, incarnation: destination.incarnation,
                grant: grantInForce(destination), phase: destination.phase.name,
                ledger: destination.ledger, version: projection.version,
                waiting: destination.waiting,
                frames: (cursor?.tally ?? FrameCounts()) + destination.frames,
                seconds: cursor?.seconds.seconds ?? [])
        }
    }

    /// Remembers that a version only repeated what its producer had said otherwise since.
    mutating func noteSuperseded(_ staged: Staged.Event) {
        guard case .update(let update) = staged.content, let number = update.stateVersion,
            let known = activities[staged.activity].durable?.stateVersion, number < known
        else { return }
        activities[staged.activity].superseded.append(staged.projection.version)
        if activities[staged.activity].superseded.count > Activity.supersededMax {
            activities[staged.activity].superseded.removeFirst()
        }
    }
}

/// What became of everything that one destination was asked to show.
package struct LedgerView: Sendable {
    package var device: Identifier
    package var incarnation: Int64
    package var grant: GrantInForce
    package var phase: String
    package var ledger: Ledger
    /// Where the activity stands.
    package var version: Int64
    /// What holds the newest version back, if anything does.
    package var waiting: Decision?
    package var frames: FrameCounts
    /// Of the clip that runs: the last minute.
    package var seconds: [FrameSeconds.Second]
}
