import TomboloCore
import TomboloLoop
import TomboloRelay

// What the relay is told of its pushes, and what goes once more because of that.

extension Seam {
    /// Whether Apple's end of HTTP/2 says of what it takes that it is refused.
    var refusesWhatIsTaken: Bool { mutant == .refusedThoughTaken }

    /// An outcome on its way to the relay; nil where it learns nothing.
    func outcome(_ outcome: PushOutcome, of push: Push, _ life: Life) -> PushOutcome? {
        if isRepetition(push.id) { return nil }
        guard mutant != nil else { return outcome }
        repeatSome(push, outcome.result, life)
        var outcome = outcome
        if let result = changed(outcome.result, of: push) { outcome.result = result }
        return outcome
    }

    /// Nil where it stays as it is.
    private func changed(_ result: PushResult, of push: Push) -> PushResult? {
        switch (mutant, result) {
        case (.reloadNeverAtRest, .accepted) where push.isReload:
            return .unknown(reason: "as if it had not come")
        case (.reloadToRetiredToken, .rejected(_, _, .tokenGone, _)) where push.isReload,
            (.channelGoneForgotten, .rejected(_, _, .tokenGone, _)) where push.surface == .channel:
            return .unknown(reason: "as if Apple had said nothing")
        case (.wrongTokenCloses, .rejected(let status, let reason, .tokenMisplaced, _)):
            return .rejected(
                status: status, reason: reason, reaches: .connection, tokenGoneSince: nil)
        case (.reloadForgottenWithToken, .rejected(let status, let reason, .tokenGone, let since))
        where push.isReload:
            forgetSurfaceToken(push.token)
            return .rejected(
                status: status, reason: reason, reaches: .push, tokenGoneSince: since)
        case (.retirementWithoutGeneration, .rejected(let status, let reason, .tokenGone, _))
        where !push.isReload && push.surface == .activity:
            retireNewer(than: push)
            return .rejected(
                status: status, reason: reason, reaches: .tokenGone, tokenGoneSince: nil)
        default: return nil
        }
    }

    /// The token goes, and with it what was wanted; a newer one that is on its way comes after it.
    private func forgetSurfaceToken(_ token: String) {
        guard let book = world.apple.surfaceTokens[token]?.book, book.isThere, book.known == token,
            !book.phone.uploads.contains(where: { $0.surface === book })
        else { return }
        let command = DeviceCommand.deleteToken(book.name, TokenRegistration(token: token))
        book.phone.upload(Phone.Upload(command: command, isRetried: false))
    }

    /// Whatever token a card has now is retired with an old one's.
    private func retireNewer(than push: Push) {
        guard let token = world.apple.tokens[push.token],
            token.installation == token.phone.installation
        else { return }
        let name: TokenName
        let newer: String?
        if let card = token.card {
            guard card.token != push.token, card.isRegistered else { return }
            (name, newer) = (.activity(card.reference), card.token)
        } else {
            guard let type = card(of: push).map({ Plan.type(of: $0.reference.id.rawValue) }),
                token.phone.startTokens[type] != push.token
            else { return }
            (name, newer) = (.start(type: type), token.phone.startTokens[type])
        }
        guard let newer else { return }
        let command = DeviceCommand.deleteToken(name, TokenRegistration(token: newer))
        token.phone.upload(Phone.Upload(command: command, isRetried: false))
    }

    // MARK: Once more

    private func repeatSome(_ push: Push, _ result: PushResult, _ life: Life) {
        switch mutant {
        case .oldStateResent where push.event == .update && result != .accepted:
            again(push, life, after: .seconds(3)) { [self] in isThere(push.token) }
        case .updateAfterEnd
        where push.event == .update && !push.isReload && world.dice.happens(.apple, oneIn: 4):
            again(push, life, after: .seconds(3)) { [self] in
                guard isThere(push.token), let card = card(of: push) else { return false }
                return world.outboxes[card]?.hasEnded == true
            }
        case .echoWithoutEnd where push.event == .update && push.expiration > 0:
            guard !push.isReload, result == .accepted else { return }
            echo(push, life, rounds: 12, every: .seconds(61))
        case .bundleFrameByFrame where result == .accepted && PushContent(push)?.bundle != nil:
            echo(push, life, rounds: 12, every: .seconds(31))
        case .secondStartBeforeToken where push.event == .start && result == .accepted:
            if let card = card(of: push) { starts[card] = (push, life) }
        case .endEchoedToSuccessor where push.surface == .channel && result == .accepted:
            echoEnd(push, life)
        default: break
        }
    }

    private func isThere(_ token: String) -> Bool {
        world.apple.tokens[token].map { $0.goneSince == nil } ?? true
    }

    /// The same state again and again, while nothing newer comes.
    private func echo(_ push: Push, _ life: Life, rounds: Int, every gap: Duration) {
        guard rounds > 0 else { return }
        world.after(gap) { [self] in
            guard !life.isDead, newest[push.token] == push.id, isThere(push.token),
                !world.isPausedForSure(push)
            else { return }
            again(moved(push, life, at: 5), life, after: .zero)
            echo(push, life, rounds: rounds - 1, every: gap)
        }
    }

    /// The push with a timestamp of now.
    private func moved(_ push: Push, _ life: Life, at priority: UInt8) -> Push {
        var push = push
        let wall = life.relay?.assumeIsolated { $0.wallNow() } ?? world.clock.now()
        var text = JSONText(push.payload)
        text.set("timestamp", to: "\(wall.seconds + 1)")
        push.payload = text.bytes
        push.priority = priority
        return push
    }

    /// The end of what a channel carried before goes once more when something else is there.
    private func echoEnd(_ push: Push, _ life: Life) {
        guard world.apple.channels[push.token]?.isNamed == true else { return }
        if push.event == .end {
            ends[push.token] = push
        } else if let end = ends.removeValue(forKey: push.token) {
            again(moved(end, life, at: 10), life, after: .seconds(2))
        }
    }

    /// An event of an activity is durable. The mutant begins its card a second time where its token
    /// has not come yet.
    func changed(_ activity: ActivityNumber, _ kind: EventKind) {
        guard mutant == .secondStartBeforeToken, kind == .update,
            let model = world.reference.models[activity]
        else { return }
        let waiting = starts.filter { key, _ in
            key.phone >= 0 && world.phones[key.phone].tenant == model.tenant
                && key.reference.id.rawValue == model.id
                && key.reference.incarnation == model.incarnation
        }
        for (key, start) in waiting.sorted(by: { $0.key.phone < $1.key.phone }) {
            starts[key] = nil
            guard world.phones[key.phone].cards[key.reference]?.isRegistered != true else {
                continue
            }
            again(moved(start.push, start.life, at: 10), start.life, after: .milliseconds(1))
        }
    }
}

extension World {
    /// Whether an operator holds what a push is of.
    func isPausedForSure(_ push: Push) -> Bool {
        guard let content = PushContent(push), let tenant = Identifier(content.tenant) else {
            return false
        }
        return pauses.contains { $0.holds(TenantID(tenant), content.activity) }
    }
}
