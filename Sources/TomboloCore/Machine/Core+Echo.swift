import TomboloJSON

// An accepted push is no receipt: the last one goes once more when there is reason to (pacing
// rule 15).

extension Core {
    /// What an end that Apple took still wants.
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

    /// When the newest state is due at priority 10, for all that went at 5 since the last such push
    /// (pacing rule 7): not before the budget has a token for it. nil for never.
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

    /// A phone's word on its card: it shows the newest state, has ended, or has missed something.
    mutating func hear(_ report: PhoneReport, at slot: CardSlot, now: Instant) {
        guard let destination = destinations.at(slot), let projection = projection(slot) else {
            return
        }
        let isOver = report.phase == .ended || report.phase == .dismissed
        let mayAdopt = activities[destination.activity].definition.route.mayAdopt
        if report.phase.isThere, mayAdopt || destination.mayHaveCard {
            tell(.began, at: slot, now: now)
        } else if report.phase == .dismissed {
            let person = projection.ending == nil ? "user" : nil  // nobody else has ended it
            tell(.dismissed, at: slot, by: report.by ?? person, now: now)
        }
        // No token tells that a new card on a channel is there: of two pushes for an offline phone
        // Apple keeps one, and the old one's end would take the place of the new one's start.
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
            // The system or the app itself has ended it.
            destinations[slot].isOverOnPhone = true
            markDirty(slot, now: now)
            if !destination.isFinished { lapse(slot, now: now) }
            return
        }
        // Whatever became of its start, the card is there.
        let mayHaveBegun =
            switch destination.phase {
            case .startUnknown: true
            // About to be sent again, and perhaps on record as tried already.
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
