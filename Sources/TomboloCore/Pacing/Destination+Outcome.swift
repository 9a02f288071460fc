// What Apple's answer changes at a destination (pacing rule 14).

extension Destination {
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

    /// True if the phone may have got a push since `oldest` (in Unix seconds), because Apple
    /// accepted one or may have done so.
    func mayHaveTaken(since oldest: Int64) -> Bool {
        pacing.taken.latest >= oldest || inFlightUntil != nil
    }

    /// True if the phone shows something else after this push than after the last accepted one.
    private func showsMore(_ flying: InFlight) -> Bool {
        if flying.bound != bound?.shown { return true }
        guard let visible = flying.visibleHash, let before = visibleHash else {
            return flying.contentHash != contentHash
        }
        return visible != before
    }

    /// Applies the final refusal of a push: its version is not sent again.
    mutating func refused(_ flying: InFlight) {
        acknowledged = flying.version
        bound?.shown = flying.bound
        if let alert = flying.alert { alertsThrough = alert }
        echo.confirmed(flying.version)
        pacing.unsettledSince = nil
        // Apple would also refuse a repetition with a newer timestamp or stale date.
        self[.owesTrailing] = false
        staleAt = flying.staleAt
    }

    /// Undoes an attempt that certainly did not reach the phone: the next attempt may use its
    /// token, its timestamp and its alert.
    mutating func giveBack(_ flying: InFlight) {
        var taken = flying.takenBefore
        taken.note(flying.timestamp)
        if pacing.taken == taken { pacing.taken = flying.takenBefore }
        if flying.tokenTaken { pacing.holdsToken = true }
        if flying.isEcho { echo.takeBack(flying.version, sentAt: pacing.lastSend) }
        if let alert = flying.alert { alertsThrough = alert - 1 }
    }

    /// Undoes such a start: the next start may use its alert.
    mutating func giveBackStartAlert() { alertsThrough = min(alertsThrough, alertsBeforeStart) }

    /// Handles a push that is probably lost. Its trailing repetition, or the end of its clip, is
    /// sent again, because no other push would do this.
    mutating func wantAgain(_ flying: InFlight, now: Instant) {
        if flying.wish == .trailing { self[.owesTrailing] = true }
        guard flying.event == .update, hasCursor else { return }
        playing.lost(wasKnown: acknowledged >= flying.version, now: now)
    }

    /// Sends nothing for a time that grows with the number of refusals in a row.
    mutating func backOff(because cause: WaitReason, now: Instant) {
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

    /// Removes the push in flight if it has this id. Returns it; nil if another push is in flight.
    mutating func land(_ push: PushID) -> InFlight? {
        guard let flying = inFlight, flying.push == push else { return nil }
        inFlight = nil
        return flying
    }
}
