// Changes that Apple's answer makes to one destination (pacing rule 14).

extension Destination {
    /// Notes that Apple accepted a push.
    mutating func took(_ flying: InFlight, at wall: Instant) {
        refusalsInRow = 0
        if flying.priority == 10 {
            pacing.unsettledSince = nil
        } else if !flying.isFrame, showsMore(flying) {
            pacing.unsettledSince = pacing.unsettledSince ?? wall
        }
        acknowledged = max(acknowledged, flying.version)
        contentHash = flying.contentHash
        visibleHash = flying.visibleHash
        staleAt = flying.staleAt
        bound?.shown = flying.bound
    }

    /// True if its phone may have had a push since that time, in Unix seconds: one that Apple
    /// accepted or may have accepted.
    func mayHaveTaken(since oldest: Int64) -> Bool {
        pacing.taken.latest >= oldest || inFlightUntil != nil
    }

    /// True if the push changes what the phone shows, compared with the last accepted one.
    private func showsMore(_ flying: InFlight) -> Bool {
        if flying.bound != bound?.shown { return true }
        guard let visible = flying.visibleHash, let before = visibleHash else {
            return flying.contentHash != contentHash
        }
        return visible != before
    }

    /// Notes a final refusal of a push: its version is done here.
    mutating func refused(_ flying: InFlight) {
        acknowledged = flying.version
        bound?.shown = flying.bound
        if let alert = flying.alert { alertsThrough = alert }
        echo.confirmed(flying.version)
        pacing.unsettledSince = nil
        // A repetition with a newer second or stale date would also be refused.
        owesTrailing = false
        staleAt = flying.staleAt
    }

    /// Undoes an attempt that certainly failed: the next one may use its token, timestamp and
    /// alert.
    mutating func giveBack(_ flying: InFlight) {
        var taken = flying.takenBefore
        taken.note(flying.timestamp)
        if pacing.taken == taken { pacing.taken = flying.takenBefore }
        if flying.tokenTaken { pacing.holdsToken = true }
        if flying.isEcho { echo.takeBack(flying.version, sentAt: pacing.lastSend) }
        if let alert = flying.alert { alertsThrough = alert - 1 }
    }

    /// Undoes a start that certainly failed: the next one may use its alert.
    mutating func giveBackStartAlert() { alertsThrough = min(alertsThrough, alertsBeforeStart) }

    /// Notes a lost push. What nothing else repeats is wanted again: a trailing repetition, or the
    /// end of a clip.
    mutating func wantAgain(_ flying: InFlight, now: Instant) {
        if flying.wish == .trailing { owesTrailing = true }
        guard flying.event == .update, hasCursor else { return }
        playing.lost(wasKnown: acknowledged >= flying.version, now: now)
    }

    /// Backs off, by the number of refusals in a row.
    mutating func backOff(because cause: Hold, now: Instant) {
        pacing.backOff(until: now + PacingState.backOff(after: refusalsInRow), because: cause)
        refusalsInRow += 1
    }

    /// Stores the answer to the last push, if it has none yet.
    mutating func note(_ outcome: PushOutcome) {
        guard var delivery = lastDelivery, delivery.result == nil else { return }
        delivery.result = outcome.result
        delivery.took = outcome.took
        lastDelivery = delivery
    }

    /// Removes and returns the push in flight if it has this id: it has been answered.
    mutating func land(_ push: PushID) -> InFlight? {
        guard let flying = inFlight, flying.push == push else { return nil }
        inFlight = nil
        return flying
    }
}
