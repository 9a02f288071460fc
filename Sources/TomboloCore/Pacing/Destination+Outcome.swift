// What Apple's answer changes at a destination alone (pacing rule 14).

extension Destination {
    /// Apple took a push.
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

    /// Whether its phone has had a push since then, in Unix seconds: one that Apple took or may
    /// have.
    func mayHaveTaken(since oldest: Int64) -> Bool {
        pacing.taken.latest >= oldest || inFlightUntil != nil
    }

    /// Whether the phone shows anything else with it than with what Apple took before.
    private func showsMore(_ flying: InFlight) -> Bool {
        if flying.bound != bound?.shown { return true }
        guard let visible = flying.visibleHash, let before = visibleHash else {
            return flying.contentHash != contentHash
        }
        return visible != before
    }

    /// Apple refuses a push for good, and would refuse it again: its version is done here.
    mutating func refused(_ flying: InFlight) {
        acknowledged = flying.version
        bound?.shown = flying.bound
        if let alert = flying.alert { alertsThrough = alert }
        echo.confirmed(flying.version)
        pacing.unsettledSince = nil
        // Once more with a newer second, or a later stale date, it would be refused once more.
        owesTrailing = false
        staleAt = flying.staleAt
    }

    /// An attempt that surely came to nothing is no send: its token, its timestamp and its alert
    /// serve the next.
    mutating func giveBack(_ flying: InFlight) {
        var taken = flying.takenBefore
        taken.note(flying.timestamp)
        if pacing.taken == taken { pacing.taken = flying.takenBefore }
        if flying.tokenTaken { pacing.holdsToken = true }
        if flying.isEcho { echo.takeBack(flying.version, sentAt: pacing.lastSend) }
        if let alert = flying.alert { alertsThrough = alert - 1 }
    }

    /// A start that surely came to nothing: its alert serves the next.
    mutating func giveBackStartAlert() { alertsThrough = min(alertsThrough, alertsBeforeStart) }

    /// A push is lost. What brought no newer version is still wanted: a second of its own, or the
    /// end of a clip.
    mutating func wantAgain(_ flying: InFlight, now: Instant) {
        if flying.wish == .trailing { owesTrailing = true }
        guard flying.event == .update, hasCursor else { return }
        playing.lost(wasKnown: acknowledged >= flying.version, now: now)
    }

    /// Sends nothing for a while, by refusals in a row.
    mutating func backOff(because cause: Hold, now: Instant) {
        pacing.backOff(until: now + PacingState.backOff(after: refusalsInRow), because: cause)
        refusalsInRow += 1
    }

    /// Keeps the answer to the last push, if it has none yet.
    mutating func note(_ outcome: PushOutcome) {
        guard var delivery = lastDelivery, delivery.result == nil else { return }
        delivery.result = outcome.result
        delivery.took = outcome.took
        lastDelivery = delivery
    }

    /// The push in flight, where it is this one: it is answered, and in flight no more.
    mutating func land(_ push: PushID) -> InFlight? {
        guard let flying = inFlight, flying.push == push else { return nil }
        inFlight = nil
        return flying
    }
}
