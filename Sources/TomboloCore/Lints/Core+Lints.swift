import TomboloJSON

// What is seen coming when a command is taken.

extension Core {
    /// More findings of one command are not told.
    static let lintsMax = 20
    /// A push-to-start token that was not heard of for so long may be a terminated app's.
    static let startTokenAgeMax = Span.hours(30 * 24)

    /// What a command leads to that nobody will be told later.
    func lints(_ content: Command.Content, at slot: Int, now: Instant) -> [Lint] {
        lints(content, activities[slot], now: now)
    }

    /// The same of an activity that may not be there yet.
    func lints(
        _ content: Command.Content, _ activity: Activity, now: Instant
    ) -> [Lint] {
        let type = type(of: activity.definition, activity.key.tenant)
        var lints: [Lint] = []
        switch content {
        case .start(let start): lints = self.lints(start, activity, type, now: now)
        case .update(let update): lints = self.lints(update, activity, type, now: now)
        case .end(let end): lints = Self.lints(end, now: wall(now))
        case .play(let clip): lints = self.lints(clip, activity, now: now)
        case .stop: break
        }
        lints += laneLints(activity)
        if !pauses.isEmpty { lints += pauseLints(content, activity) }
        return Array(lints.prefix(Self.lintsMax))
    }

    private func lints(
        _ start: Start, _ activity: Activity, _ type: ActivityType?, now: Instant
    ) -> [Lint] {
        var lints = Self.stateLints(start.state, type)
        lints += audienceLints(start, activity, type)
        if case .channel(let name) = start.audience {
            lints += self.lints(onChannel: name, activity.key.tenant)
        }
        if start.framesShowWhen != nil, let channel = Self.channel(of: start) {
            lints.append(
                Lint(
                    .presenceOnChannel, "/show_when",
                    "has no effect on \(channel): one push goes to all who listen, whether or not "
                        + "the app is in front on one of them"))
        }
        // The cards that listen on a channel are there already: no start is pushed.
        if case .channel = start.audience { return lints }
        guard start.audience != .none, start.route != .adopt else { return lints }
        if start.alert == nil {
            lints.append(
                Lint(
                    .startWithoutAlert, "/alert",
                    "a start without alert is dropped by the phone; the relay sends an empty one, "
                        + "which shows as an empty banner: give it a title"))
        }
        if let type, type.idAt == nil {
            lints.append(
                Lint(
                    .activityIDUnknown, "/attributes",
                    "the type's id_at is null: the app cannot tell which activity its update "
                        + "token is for, and no update will reach the card"))
        }
        let name = TokenName.start(type: start.type)
        for device in audience(of: activity.definition, activity.key.tenant).prefix(16) {
            guard let token = devices[device]?.tokens[name],
                token.observedAt < wall(now) - Self.startTokenAgeMax
            else { continue }
            lints.append(
                Lint(
                    .startTokenOld, "/audience",
                    "\(devices[device]?.key.id.rawValue ?? "a device") registered its start token "
                        + "more than 30 days ago: the app may be gone, and the start with it"))
        }
        return lints
    }

    /// What its cards listen on, in words; nil where each has a token of its own.
    private static func channel(of start: Start) -> String? {
        if case .channel(let name) = start.audience { return "the channel \"\(name)\"" }
        return switch start.route {
        case .channel: "the activity's own channel"
        case .auto: "the activity's own channel, which iOS 18 and later listen on"
        case .unspecified, .push, .adopt: nil
        }
    }

    /// More devices are not looked at to find out where an app's phones are.
    private static let devicesMax = 1_000

    /// Whether anybody can listen on a channel: channels are not shared between environments.
    private func lints(onChannel name: Identifier, _ tenant: TenantID) -> [Lint] {
        guard let channel = channel(ChannelKey(tenant: tenant, name: name)) else { return [] }
        let phones = devices.prefix(Self.devicesMax).lazy.compactMap { $0 }.filter { device in
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

    /// What is unsaid of a device and may be guessed wrongly.
    func lints(_ registration: DeviceRegistration, in lane: LaneNumber) -> [Lint] {
        guard registration.environment == nil else { return [] }
        let taken = configuration.apps[Int(lane.rawValue)].environment
        return [
            Lint(
                .environmentUnstated, "/environment",
                "is not said, and \(taken.name) is taken: Apple answers BadDeviceToken to a token "
                    + "of the other one; what Xcode installs is sandbox, what comes from TestFlight "
                    + "or the store is production")
        ]
    }

    /// A device is in another environment, or of another app, than it was.
    static func moved(_ tokens: Int) -> Lint {
        Lint(
            .environmentChanged, "/environment",
            "is another than before, or the app is: \(tokens == 1 ? "the token" : "the \(tokens) tokens") "
                + "of before mean nothing there and are forgotten; register those of this "
                + "installation")
    }

    private func lints(
        _ update: Update, _ activity: Activity, _ type: ActivityType?, now: Instant
    ) -> [Lint] {
        var lints: [Lint] = []
        switch update.change {
        case .merge(let patch), .replace(let patch): lints = Self.stateLints(patch, type)
        case .none: break
        }
        if let playing = activity.accepted.clip, !playing.isOver(at: wall(now)),
            let place = update.change.place(of: playing.clip.path)
        {
            lints.append(
                Lint(
                    .clipCoversUpdate, place,
                    "\(playing.name) plays there: this shows nowhere, and the clip's last frame "
                        + "takes its place; stop the clip first, with DELETE /v1/activities/"
                        + "\(activity.key.id)/clips/\(playing.name)"))
        }
        lints += Self.staleLints(update, activity)
        let wish: Wish? =
            update.alert != nil ? .must : update.urgency == .high ? .latest(.high) : nil
        var (hasCards, hasGone) = (false, true)
        var openAt: Instant?
        // One that is there is found at once, as a rule: only where none is are all looked at.
        for slot in activity.destinations
        where destinations[slot].incarnation == activity.incarnation {
            hasCards = true
            if destinations[slot].phase != .gone { hasGone = false }
            if let wish, let destination = destinations.at(slot), !destination.isFinished {
                openAt = highPriorityTime(wish, destination, now: now)
            }
            if !hasGone, openAt != nil || wish == nil { break }
        }
        if hasCards, hasGone {
            lints.append(
                Lint(
                    .updateAfterEnd, "",
                    "every card of this activity is gone (swiped away, its token is dead, or it never began): "
                        + "the update shows nowhere"))
        }
        let age = wall(now) - activity.definition.startedAt
        if hasCards, age > .hours(7), activity.definition.renew == .never {
            lints.append(
                Lint(
                    .activityNearItsEnd, "",
                    "the activity is \(Span.minutes(age.nanoseconds / 60_000_000_000).text) old: "
                        + "the system ends it after 8 hours, and updates then show nowhere"))
        }
        if let openAt { lints.append(Self.budgetLint(update, until: openAt, now: now)) }
        return lints
    }

    private static func staleLints(_ update: Update, _ activity: Activity) -> [Lint] {
        guard let number = update.stateVersion, let known = activity.accepted.stateVersion,
            number < known
        else { return [] }
        return [
            Lint(
                .stateVersionOlder, "/state_version",
                "is older than \(known), which came before: the state stays as it is")
        ]
    }

    /// What a change goes at 5 for, until a push of priority 10 is there for it.
    private static func budgetLint(_ update: Update, until openAt: Instant, now: Instant) -> Lint {
        let wait = Span.seconds((openAt - now).nanoseconds / 1_000_000_000 + 1).text
        return update.alert != nil
            ? Lint(
                .priorityBeyondBudget, "/alert",
                "no push at priority 10 is left for \(wait): the alert goes at 5, and may ring "
                    + "late; keep alerts for what cannot wait")
            : Lint(
                .priorityBeyondBudget, "/urgency",
                "what is left at priority 10 is kept for alerts for \(wait): this goes at 5, when "
                    + "the phone likes; keep \"high\" for what cannot wait")
    }

    /// When a push of priority 10 is there for a wish; nil where one is there now.
    private func highPriorityTime(
        _ wish: Wish, _ destination: Destination, now: Instant
    ) -> Instant? {
        let grant = grantInForce(destination).grant
        guard grant.perHour != nil else { return nil }
        let time = destination.pacing.highPriorityTime(
            wish, grant, device: deviceBudget(destination, grant), now: now)
        return time.flatMap { $0 > now ? $0 : nil }
    }

    private static func lints(_ end: End, now: Instant) -> [Lint] {
        switch end.dismissal {
        case .at(let instant) where instant <= now:
            [Lint(.dismissalDateNotInFuture, "/dismiss", "is past: the card goes away at once")]
        case .at(let instant) where instant > now + .hours(4):
            [Lint(.dismissalDateCut, "/dismiss", "the system takes the card away after 4 hours")]
        case .after(let span) where span > .hours(4):
            [Lint(.dismissalDateCut, "/dismiss", "the system takes the card away after 4 hours")]
        case .standard, .now, .after, .at: []
        }
    }

    private func lints(_ clip: Clip, _ activity: Activity, now: Instant) -> [Lint] {
        let own = activity.destinations.compactMap { destinations.at($0) }
        let slowest = own.map { grantInForce($0).grant.frameInterval }.max() ?? .zero
        let fit = fit(clip, activity.accepted, activity)
        let type = type(of: activity.definition, activity.key.tenant)
        let name = clip.isFlipbook ? "flipbook" : "tween"
        var lints = type?.state?.unknownMember(at: clip.path, pointer: "/\(name)/path") ?? []
        if clip.fit == .bundle, type?.plays != true {
            lints.append(
                Lint(
                    .clipBundleUndeclared, "/fit",
                    "the type \(activity.definition.type) does not declare \"plays\": its app "
                        + "shows one frame, unless it plays bundles all the same"))
        }
        guard fit == .step else { return lints }
        if slowest > clip.every {
            lints.append(
                Lint(
                    .clipSlowed, "/\(name)/every",
                    "the slowest destination is granted a frame every \(slowest.text): there the "
                        + "clip runs slower"))
        }
        if clip.duration == nil {
            lints.append(
                Lint(
                    .clipForever, "/\(name)/loop",
                    "plays for ever, a push for each frame, until it is stopped (DELETE "
                        + "/v1/activities/\(activity.key.id)/clips/CLIP, tombolo clip stop "
                        + "\(activity.key.id)) or the activity ends; \"once\" plays it once"))
        }
        return lints
    }

    /// A pause that holds what a command leads to.
    private func pauseLints(_ content: Command.Content, _ activity: Activity) -> [Lint] {
        let own = pauses.values.filter { $0.tenant == activity.key.tenant && holds($0, activity) }
            .sorted { $0.number < $1.number }
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

    private static func stateLints(_ state: JSON, _ type: ActivityType?) -> [Lint] {
        let view = state.document.root
        guard let schema = type?.state else {
            return DateLint.lints(of: view, at: "/state", dates: type?.dates ?? .swiftReference)
        }
        return schema.unknownMembers(in: view, at: "/state")
    }

    private func laneLints(_ activity: Activity) -> [Lint] {
        guard self.lanes.contains(where: { $0.parkedUntil != nil }) else { return [] }
        let lanes = Set(activity.destinations.compactMap { destinations[$0].lane })
        guard lanes.contains(where: { self.lanes[Int($0.rawValue)].parkedUntil != nil }) else {
            return []
        }
        return [
            Lint(
                .laneParked, "",
                "pushes of this app wait: Apple refuses its provider token, is unwell, or cannot "
                    + "be reached; tombolo doctor finds out which")
        ]
    }

    /// When one push of a lane whose pushes wait tries again; nil where they go, and where the next
    /// one tries at once.
    package func nextTry(_ lane: LaneNumber, now: Instant) -> Instant? {
        lanes[Int(lane.rawValue)].nextTry(now: now).map { wall($0) }
    }

    /// Whether pushes of a lane wait for Apple.
    package func isParked(_ lane: LaneNumber) -> Bool {
        lanes[Int(lane.rawValue)].parkedUntil != nil
    }

    /// What a type says that its older apps cannot follow.
    static func lints(of type: ActivityType, replacing old: ActivityType?) -> [Lint] {
        guard let schema = type.state, let before = old?.state else { return [] }
        return schema.required.filter { !before.required.contains($0) }.map { name in
            Lint(
                .newRequiredField, "/state/required",
                "\"\(name)\" is newly required: apps from before do not know it, and a new app "
                    + "drops every state without it; give the Swift property a default instead")
        }
    }
}
