import TomboloJSON

// Lints that are found when a command is accepted.

extension Core {
    /// An older start token may belong to an app that is not installed any more.
    static let startTokenAgeMax = Span.hours(30 * 24)

    /// Warnings about effects of a command that would otherwise stay unnoticed. Also for a dry run.
    func commandLints(
        _ content: Command.Content, _ activity: Activity, now: Instant
    ) -> [Lint] {
        let type = types.type(of: activity.definition, activity.key.tenant)
        var lints: [Lint] = []
        switch content {
        case .start(let start): lints = startLints(start, activity, type, now: now)
        case .update(let update): lints = updateLints(update, activity, type, now: now)
        case .end(let end): lints = Lint.of(end, now: wall(now))
        case .play(let clip): lints = clipLints(clip, activity, now: now)
        case .stop: break
        }
        if let alert = content.alert {
            lints.gather(Alert.lints(of: alert.document.root, at: "/alert"))
        }
        if let lint = PushSize.lint(of: activity, content) { lints.append(lint) }
        lints.gather(upstreamLints(activity))
        if !pauses.isEmpty { lints += pauseLints(content, activity) }
        return Array(lints.prefix(Lint.countMax))
    }

    private func startLints(
        _ start: Start, _ activity: Activity, _ type: ActivityType?, now: Instant
    ) -> [Lint] {
        var lints = Lint.of(start.state, type)
        lints += audienceLints(start, activity, type)
        if case .channel(let name) = start.audience {
            lints += channelLints(name, activity.key.tenant)
        }
        if start.framesShowWhen != nil || type?.presence != nil,
            let channel = Lint.channel(of: start)
        {
            let (pointer, effect) =
                start.framesShowWhen != nil
                ? ("/show_when", "has no effect on \(channel)")
                : ("/type", "binds a value to presence; on \(channel) all get the inactive one")
            lints.warn(
                .presenceOnChannel, pointer,
                "\(effect): one push goes to all who listen, whether or not "
                    + "the app is in front on one of them")
        }
        // Cards on a named channel exist already, so no start is pushed.
        if case .channel = start.audience { return lints }
        guard start.audience != .none, start.route != .adopt else { return lints }
        if start.alert == nil {
            lints.warn(
                .startWithoutAlert, "/alert",
                "a start without alert is dropped by the phone; the relay sends an empty one, "
                    + "which shows as an empty banner: give it a title")
        }
        if let type, type.idAt == nil {
            lints.warn(
                .activityIDUnknown, "/attributes",
                "the type's id_at is null: the app cannot tell which activity its update "
                    + "token is for, and no update will reach the card")
        }
        let name = TokenName.start(type: start.type)
        for slot in audience(of: activity.definition, activity.key.tenant).prefix(16) {
            guard let device = devices[slot] else { continue }
            let (standing, id) = (device.standing(of: name), device.key.id)
            if let until = startsAllow(slot, now: now) {
                lints.append(Lint.beyondStartBudget(id, until: until, now: now))
            }
            if let lint = Lint.ofRefusal(standing, on: id, "/audience") { lints.append(lint) }
            if let change = device.doubtsToken(name) {
                let doubt = TokenStanding.doubt(since: change)
                lints.append(Lint(.startTokenOld, "/audience", "\(id): \(doubt)"))
            } else if let token = device.tokens[name],
                token.observedAt < wall(now) - Self.startTokenAgeMax
            {
                lints.warn(
                    .startTokenOld, "/audience",
                    "\(id) registered its start token more than 30 days ago: the app may be "
                        + "gone, and the start with it")
            }
        }
        return lints
    }

    /// Maximum number of devices that are examined to find the environments of an app's phones.
    private static let devicesMax = 1_000

    /// Warns if no registered device can listen on the channel, because environments do not share
    /// channels.
    private func channelLints(_ name: Identifier, _ tenant: TenantID) -> [Lint] {
        guard let channel = channel(ChannelKey(tenant: tenant, name: name)) else { return [] }
        let phones = devices.prefix(Self.devicesMax).compactMap { $0 }.filter { device in
            device.channel == nil && device.key.tenant == tenant
                && (device.registration.app ?? self.configuration.onlyApp(of: tenant))
                    == channel.app
        }
        let environments = Set(phones.compactMap(\.registration.environment))
        guard !environments.isEmpty, !environments.contains(channel.environment) else { return [] }
        return [
            Lint(
                .channelEnvironment, "/audience/channel",
                "the channel is of \(channel.environment.name), and no device of "
                    + "\(channel.app) is registered there: nobody can listen")
        ]
    }

    private func updateLints(
        _ update: Update, _ activity: Activity, _ type: ActivityType?, now: Instant
    ) -> [Lint] {
        var lints: [Lint] = []
        switch update.change {
        case .merge(let patch), .replace(let patch): lints = Lint.of(patch, type)
        case .none: break
        }
        if let playing = activity.accepted.clip, !playing.isOver(at: wall(now)),
            let place = update.change.place(of: playing.clip.path)
        {
            lints.warn(
                .clipCoversUpdate, place,
                "\(playing.name) plays there: no phone shows this, and the clip's last frame "
                    + "takes its place; stop the clip first, with DELETE /v1/activities/"
                    + "\(activity.key.id)/clips/\(playing.name)")
        }
        lints.gather(Lint.ofOlderState(update, activity))
        let wish: Wish? =
            update.alert != nil ? .must : update.urgency == .high ? .latest(.high) : nil
        var (hasCards, hasGone) = (false, true)
        var closing: Closing?
        // Usually one of the first cards still has budget. All cards are examined only if none has.
        for slot in activity.destinations
        where destinations[slot].incarnation == activity.incarnation {
            hasCards = true
            if destinations[slot].phase != .gone { hasGone = false }
            if let wish, !destinations[slot].isFinished {
                closing = self.closing(wish, slot, now: now)
            }
            if !hasGone, closing != nil || wish == nil { break }
        }
        lints.gather(Lint.ofRefusedTokens(activity, in: self))
        if hasCards, hasGone {
            lints.warn(
                .updateAfterEnd, "",
                "no push reaches a card of this activity (swiped away, its token refused, or it never "
                    + "began): no phone shows the update")
        }
        let age = wall(now) - activity.definition.startedAt
        if hasCards, age > .hours(7), activity.definition.renew == .never {
            lints.warn(
                .activityNearItsEnd, "",
                "the activity is \(age.roundedText) old: "
                    + "the system ends it after 8 hours, and updates then show nowhere")
        }
        if let closing { lints.append(Lint.beyondBudget(update, closing, now: now)) }
        return lints
    }

    /// Until when no push of priority 10 is left for a wish; nil if one is left now.
    func closing(_ wish: Wish, _ slot: CardSlot, now: Instant) -> Closing? {
        let grant = grantInForce(slot).grant
        return destinations[slot].pacing.closing(
            wish, grant, device: deviceBudget(destinations[slot].device, grant), now: now)
    }

    private func clipLints(_ clip: Clip, _ activity: Activity, now: Instant) -> [Lint] {
        var slowest = Span.zero
        for slot in activity.destinations where destinations.holds(slot) {
            slowest = max(slowest, grantInForce(slot).grant.frameInterval)
        }
        let fit = fit(clip, activity.accepted, activity)
        let type = types.type(of: activity.definition, activity.key.tenant)
        let name = clip.isFlipbook ? "flipbook" : "tween"
        var lints = type?.state?.unknownMember(at: clip.path, pointer: "/\(name)/path") ?? []
        if clip.fit == .bundle, type?.plays != true {
            lints.warn(
                .clipBundleUndeclared, "/fit",
                "the type \(activity.definition.type) does not declare \"plays\": its app "
                    + "shows one frame, unless it plays bundles all the same")
        }
        guard fit == .step else { return lints }
        if slowest > clip.every {
            lints.warn(
                .clipSlowed, "/\(name)/every",
                "the slowest destination is granted a frame every \(slowest.roundedText): there "
                    + "the clip runs slower")
        }
        if clip.duration == nil {
            lints.warn(
                .clipForever, "/\(name)/loop",
                "plays for ever, a push for each frame, until it is stopped (DELETE "
                    + "/v1/activities/\(activity.key.id)/clips/CLIP, tombolo clip stop "
                    + "\(activity.key.id)) or the activity ends; \"once\" plays it once")
        }
        return lints
    }

    /// The lint for a pause that holds back the command's pushes.
    private func pauseLints(_ content: Command.Content, _ activity: Activity) -> [Lint] {
        let own = pauses.pauses(of: activity.key.tenant).filter { $0.holds(activity) }
        if let pause = own.first(where: { !$0.alertsOnly }) {
            return [
                Lint(
                    .pauseInForce, "",
                    "an operator has paused pushes (\(pause.name)): no phone shows this before "
                        + "tombolo resume \(pause.name)")
            ]
        }
        guard let pause = own.first else { return [] }
        let effect: String
        switch content {
        case .start: effect = "the start waits"
        case .update(let update) where update.alert != nil: effect = "this goes without its alert"
        case .update, .end, .play, .stop: return []
        }
        return [
            Lint(
                .pauseInForce, "",
                "an operator has paused alerts (\(pause.name)): \(effect) until tombolo resume "
                    + "\(pause.name)")
        ]
    }

    private func upstreamLints(_ activity: Activity) -> [Lint] {
        guard upstreams.numbers.contains(where: { isParked($0) }) else { return [] }
        let upstreams = Set(activity.destinations.map { destinations[$0].upstream })
        guard let closed = upstreams.sorted().first(where: { isParked($0) }) else { return [] }
        let cause = self.upstreams[closed].trouble ?? "Apple takes no push"
        return [
            Lint(
                .upstreamClosed, "",
                "pushes of this app wait: \(cause); tombolo doctor says what to do")
        ]
    }

    /// When an upstream whose pushes wait tries one of them again; nil if pushes do not wait, or if
    /// the next push is tried at once.
    package func nextTry(_ upstream: UpstreamNumber, now: Instant) -> Instant? {
        upstreams[upstream].nextTry(now: now).map { wall($0) }
    }

    /// True if the upstream's pushes wait, because Apple refuses or cannot be reached.
    package func isParked(_ upstream: UpstreamNumber) -> Bool {
        upstreams[upstream].parkedUntil != nil
    }
}
