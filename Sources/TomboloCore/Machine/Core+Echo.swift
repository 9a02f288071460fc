import TomboloJSON

// Apple's acceptance is no receipt, so the last push is repeated if there is a reason (pacing rule
// 15).

extension Core {
    /// The want of a destination whose end Apple has accepted.
    func wantEchoOfEnd(_ slot: CardSlot, now: Instant) -> Want {
        guard let destination = destinations.at(slot), destination.phase == .ended,
            let projection = projection(slot), let ending = projection.ending,
            let due = destination.echoDue(projection, at: time(now), configuration.limits),
            max(due, now) < clock.shownAt(ending.at, now: now) + activityLifeMax,
            !isSucceeded(destination)
        else { return .later(nil) }
        if let flying = destination.inFlight { return .later(flying.until) }
        if due > now { return .later(due) }
        return isPaused(slot) ? .held(.paused, until: nil) : .push(.end, .echo, alert: nil)
    }

    /// When the newest state is repeated at priority 10, if newer states only had priority 5
    /// (pacing rule 7): not before the budget has a token for it. Nil: never.
    func settleDue(_ slot: CardSlot, now: Instant) -> Instant? {
        guard let old = destinations[slot].settlesAt(time(now), configuration.limits) else {
            return nil
        }
        let grant = grantInForce(slot).grant
        let device = deviceBudget(destinations[slot].device, grant, for: slot, now: now)
        return destinations[slot].pacing
            .highPriorityTime(.settle, grant, device: device, now: now)
            .map { max(old, $0) }
    }

    /// Applies a phone's report about its card: it is up to date, has ended, or missed a push.
    mutating func hear(_ report: PhoneReport, at slot: CardSlot, now: Instant) {
        guard let destination = destinations.at(slot), let projection = projection(slot) else {
            return
        }
        let isOver = report.phase == .ended || report.phase == .dismissed
        let mayAdopt = activities[destination.activity].definition.route.mayAdopt
        if report.phase.isThere, mayAdopt || destination.mayHaveCard {
            tell(.began, at: slot, now: now)
        } else if report.phase == .dismissed {
            let person = projection.ending == nil ? "user" : nil  // the user dismissed it
            tell(.dismissed, at: slot, by: report.by ?? person, now: now)
        }
        // A new card on a channel has no token to show that it exists. For an offline phone Apple
        // stores one push only, so the old card's end must not replace the new card's start.
        if destination.phase == .listening, !isOver { endPredecessor(of: slot, now: now) }
        if projection.ending != nil {
            if isOver {
                destinations[slot].echo.confirmed(projection.version)
            } else {
                destinations[slot].noteSignOfLife(now: now)
            }
            return
        }
        if report.phase == .dismissed {
            destinations[slot].wasDismissed = true
            destinations[slot].isOverOnPhone = true
            markDirty(slot, now: now)
            if !destination.isFinished { enter(.gone, slot, now: now) }
            reviseSuccessor(of: slot, now: now)
            return
        }
        if report.phase == .ended {
            // The system or the app itself has ended the card.
            destinations[slot].isOverOnPhone = true
            markDirty(slot, now: now)
            if !destination.isFinished { lapse(slot, now: now) }
            return
        }
        // The card exists, whatever the outcome of its start was.
        let mayHaveBegun =
            switch destination.phase {
            case .startUnknown: true
            // A start that will be sent again, and may be recorded as tried.
            case .waiting: destination.cardSince != nil
            case .starting: startChannel(destination) == nil
            case .started, .live, .ended, .gone, .lapsed, .listening: false
            }
        if mayHaveBegun { begun(slot, destination.acknowledged, now: now) }
        let hasNewest =
            report.receivedVersion.map { $0 >= projection.version }
            ?? report.receivedState.map {
                self.isShown($0, projection, destination, now: now)
            }
        if hasNewest == true, destination.acknowledged >= projection.version {
            destinations[slot].echo.confirmed(projection.version)
            destinations[slot].pacing.unsettledSince = nil
        } else {
            destinations[slot].noteSignOfLife(now: now)
        }
    }
}
