/// Broadcasts: a card that was started with `input-push-channel` listens on its channel.
extension Phone {
    /// A broadcast from APNs. A phone that is offline, or has no card on the channel, misses it:
    /// what a channel stores for late comers is not simulated.
    package mutating func receive(
        _ broadcast: AcceptedBroadcast, at now: WallInstant
    ) -> [PhoneEffect] {
        var effects = advance(to: now)
        guard isOnline, broadcast.bundleID == configuration.bundleID else { return effects }
        let push = AcceptedPush(
            apnsID: broadcast.requestID, token: "", topic: .liveActivity(broadcast.bundleID),
            type: .liveActivity, priority: broadcast.priority, expiration: .immediate,
            collapseID: nil, payload: broadcast.payload, acceptedAt: now)
        let listening = cards.filter { $0.channelID == broadcast.channelID }.map(\.number)
        for number in listening {
            guard let index = cards.firstIndex(where: { $0.number == number }) else { continue }
            do throws(Ignored) {
                try change(index, by: push, at: now, &effects)
            } catch {
                note(error, push, at: now, &effects)
            }
        }
        return effects
    }
}
