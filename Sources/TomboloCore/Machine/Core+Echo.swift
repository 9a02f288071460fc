// Apple's acceptance does not prove that a push has reached the phone, so the last push is repeated
// if there is a reason (pacing rule 15).

extension Core {
    /// What a destination wants after Apple has accepted its end: a repetition, now or later.
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

    /// When the newest state is sent again at priority 10, after it was sent at priority 5 only
    /// (pacing rule 7), and the budget has a token for it. Nil: never.
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

    /// Applies a phone's report about its card: the card is up to date, is over, or has missed a
    /// push.
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
        // A new card on a channel has no token: only a report shows that it exists. The old card's
        // end must come after that, because Apple stores only one push for an offline phone.
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
            destinations[slot][.wasDismissed] = true
            destinations[slot].isOverOnPhone = true
            scheduleCheckpoint(slot, now: now)
            if !destination.isFinished { enter(.gone, slot, now: now) }
            reviseSuccessor(of: slot, now: now)
            return
        }
        if report.phase == .ended {
            // The system or the app itself has ended the card.
            destinations[slot].isOverOnPhone = true
            scheduleCheckpoint(slot, now: now)
            if !destination.isFinished { lapse(slot, now: now) }
            return
        }
        // If the start's outcome is unknown, the report shows that the card exists.
        let mayHaveBegun =
            switch destination.phase {
            case .startUnknown: true
            // A start that failed or will be repeated may have begun a card all the same.
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
