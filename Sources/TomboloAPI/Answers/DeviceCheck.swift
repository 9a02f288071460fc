package import TomboloCore
package import TomboloJSON

/// What a phone's app has sent to the relay, step by step, and what is missing.
package struct DeviceCheck: AnswerObject, Sendable {
    /// How far a step is.
    package enum State: String, Sendable {
        case done
        /// It may work; `text` says what speaks against it.
        case doubtful
        /// Nothing asks for it yet: no card needs an update token, no widget is known.
        case notDue = "not_due"
        case lacks
    }

    /// The steps, in order.
    package enum Name: String, CaseIterable, Sendable {
        case registered, user
        case startToken = "start_token"
        case updateToken = "update_token"
        case report
        case frequentUpdates = "frequent_updates"
        case widgetToken = "widget_token"
    }

    /// One step of the check.
    package struct Step: Sendable {
        package var name: Name
        package var state: State
        /// A sentence about the step.
        package var text: String
        /// What to do next; nil if nothing is to be done.
        package var next: String?
    }

    package let device: Identifier
    package private(set) var steps: [Step] = []

    /// True if no step lacks anything.
    package var isComplete: Bool { !steps.contains { $0.state == .lacks } }

    /// The steps that lack something; and that of frequent updates if they are not allowed.
    package var missing: [Name] {
        steps.filter { $0.state == .lacks || $0.name == .frequentUpdates && $0.state != .done }
            .map(\.name)
    }

    /// - Parameters:
    ///   - view: nil if the device is not registered.
    ///   - boundUsers: for each live key of the device, the user that it is bound to, or nil.
    ///   - now: the wall clock's time.
    package init(
        of device: Identifier, _ view: DeviceView?, boundUsers: [String?], at now: Instant
    ) {
        self.device = device
        guard let view else {
            add(
                .registered, .lacks, "The app has not registered this device.",
                "PUT /v1/devices/\(device) at each launch of the app")
            return
        }
        checkRegistration(view)
        checkUser(view, boundUsers)
        checkStartTokens(view, at: now)
        checkUpdateTokens(view, at: now)
        checkReports(view, at: now)
        checkFrequentUpdates(view)
        checkWidgets(view)
    }

    private mutating func add(_ name: Name, _ state: State, _ text: String, _ next: String? = nil) {
        steps.append(Step(name: name, state: state, text: text, next: next))
    }

    private mutating func checkRegistration(_ view: DeviceView) {
        let registration = view.registration
        let parts = [
            registration.app, registration.environment?.name, registration.os.map { "iOS \($0)" },
        ]
        let what = parts.compactMap(\.self).joined(separator: ", ")
        guard registration.environment != nil else {
            return add(
                .registered, .doubtful,
                "The device is registered\(what.isEmpty ? "" : " (\(what))") without its "
                    + "environment: the relay takes that of the app in its configuration.",
                "send \"environment\" with the registration, read from embedded.mobileprovision")
        }
        add(.registered, .done, "The device is registered: \(what).")
    }

    private mutating func checkUser(_ view: DeviceView, _ boundUsers: [String?]) {
        let user = view.registration.user
        let bound = boundUsers.compactMap(\.self)
        let mint = "tombolo key mint --scope device:\(device) --user USER"
        guard let user else {
            return add(
                .user, .notDue,
                "The device has no user: no audience {\"user\": …} reaches it.",
                "register the device with a key that is bound to its user (\(mint))")
        }
        let others = bound.count { !isSameText($0, user) }
        if others > 0 {
            return add(
                .user, .lacks,
                "\(others) of the device's keys are bound to other users: the relay refuses them "
                    + "(key-of-former-user, or key-not-signed-in until one of them signs in).",
                "mint a key for the user of now (\(mint)), and delete the others")
        }
        guard !bound.isEmpty else {
            return add(
                .user, boundUsers.isEmpty ? .doubtful : .lacks,
                boundUsers.isEmpty
                    ? "The device is \(user)'s, and has no valid key of its own: its app uses another "
                        + "key, or its key has expired."
                    : "The device is \(user)'s, and its keys are bound to no user: the relay refuses "
                        + "them (key-not-signed-in).",
                mint)
        }
        add(.user, .done, "The device is \(user)'s, and so are its keys.")
    }

    /// The app gets a start token for each type, and each may change at any time.
    private mutating func checkStartTokens(_ view: DeviceView, at now: Instant) {
        guard view.registration.activitiesEnabled != false else {
            return add(
                .startToken, .lacks,
                "The user has switched Live Activities off for the app: it shows no card.",
                "on the phone, open the app's settings and allow Live Activities")
        }
        let prefix = "start:"
        let tokens = view.tokens.filter { $0.name.hasPrefix(prefix) }
        let refused = view.refused.filter { $0.name.text.hasPrefix(prefix) }
        for standing in refused {
            add(
                .startToken, .lacks,
                "\(standing.refused ?? "Apple refused \(standing.name.text)").", standing.cure)
        }
        if tokens.isEmpty, refused.isEmpty, view.registration.startsNoCards {
            add(
                .startToken, .notDue,
                "iOS \(view.registration.os ?? "") starts no card by push (17.2 and later): the app starts its "
                    + "cards itself.")
        } else if tokens.isEmpty, refused.isEmpty, !view.tokens.isEmpty, view.cards.isEmpty,
            view.tokens.allSatisfy({ $0.name == "widget" || $0.name.hasPrefix("control:") })
        {
            add(
                .startToken, .notDue,
                "The app has registered tokens of widgets and controls only, and no card is for this "
                    + "device.")
        } else if tokens.isEmpty, refused.isEmpty {
            add(
                .startToken, .lacks,
                "The app has registered no start token: no push can begin a card.",
                "read pushToStartToken at launch and in the foreground, and await "
                    + "pushToStartTokenUpdates (iOS 17.2 and later)")
        }
        let names = refused.map(\.name.text)
        for token in tokens where !names.contains(token.name) {
            let what = "\(token.name) was registered at \(token.registeredAt.rfc3339)"
            if let change = token.doubtedSince {
                add(
                    .startToken, .doubtful, "\(what). " + TokenStanding.doubt(since: change),
                    "register pushToStartToken once more at the next launch")
            } else if now - token.registeredAt > Self.tokenAgeMax {
                add(
                    .startToken, .doubtful, "\(what), more than 30 days ago: the app may be gone.",
                    "open the app: it registers its token at each launch")
            } else {
                add(.startToken, .done, "\(what), and Apple has not refused it.")
            }
        }
    }

    /// As the lint `start-token-old`.
    private static let tokenAgeMax = Span.hours(30 * 24)
    /// An app has so long to register a card's token, and to report the card.
    private static let (tokenDueAfter, reportDueAfter) = (Span.seconds(30), Span.minutes(2))

    private mutating func checkUpdateTokens(_ view: DeviceView, at now: Instant) {
        let waiting = view.cards.filter {
            $0.needsToken && !$0.hasToken && now - $0.since > Self.tokenDueAfter
        }
        let refused = view.refused.filter { standing in
            view.cards.contains { "activity:\($0.activity)" == standing.name.text }
        }
        let strangers = view.tokens.filter { token in
            now - token.registeredAt > Self.tokenDueAfter
                && view.strangers.contains { $0.text == token.name }
        }
        if let standing = refused.first {
            add(
                .updateToken, .lacks,
                "Apple refused the update tokens of \(refused.count) cards, the first one with "
                    + "\(standing.refusal?.answer ?? "no reason").", standing.cure)
        } else if !waiting.isEmpty {
            add(
                .updateToken, .lacks,
                "\(waiting.count) of \(view.cards.count) cards have no update token: no update "
                    + "reaches them.",
                "observe activityUpdates and each card's pushTokenUpdates, also in the seconds after "
                    + "a background start; on the phone, tap \"Allow\"")
        } else if let stranger = strangers.first {
            add(
                .updateToken, .lacks,
                "\(strangers.count) of the device's update tokens are kept for activities that do not "
                    + "run, such as \(stranger.name). Is it ActivityKit's Activity.id?",
                "send the id that the attributes have in activity_id")
        } else if let due = view.cards.first(where: { $0.needsToken && !$0.hasToken }) {
            add(
                .updateToken, .notDue,
                "The update token of \(due.activity) is due until "
                    + "\((due.since + Self.tokenDueAfter).rfc3339).")
        } else if view.cards.contains(where: \.hasToken) {
            add(.updateToken, .done, "Each card that needs an update token has one.")
        } else {
            add(.updateToken, .notDue, "No card on the phone needs an update token now.")
        }
    }

    private mutating func checkReports(_ view: DeviceView, at now: Instant) {
        let isSilent = view.cards.contains {
            $0.hasToken && $0.report == nil && now - $0.since > Self.reportDueAfter
        }
        let times = [view.lastReportAt, view.presence?.report.at].compactMap(\.self)
        if isSilent {
            add(
                .report, .lacks,
                "The app has not reported a card that has been there for 2 minutes.",
                "PUT /v1/devices/\(device)/activities/ID where a card appears, changes or ends; a "
                    + "state that does not decode shows no card")
        } else if let last = times.max() {
            add(.report, .done, "The app's last report came at \(last.rfc3339).")
        } else {
            add(.report, .notDue, "The app has reported no card and no presence yet.")
        }
    }

    private mutating func checkFrequentUpdates(_ view: DeviceView) {
        if view.registration.frequentUpdates == true {
            add(.frequentUpdates, .done, "Frequent updates are allowed.")
        } else {
            add(
                .frequentUpdates, .doubtful,
                "The app does not report frequent updates as allowed: the phone takes fewer pushes "
                    + "of priority 10.",
                "set NSSupportsLiveActivitiesFrequentUpdates, and send frequent_updates as "
                    + "ActivityAuthorizationInfo().frequentPushesEnabled says")
        }
    }

    private mutating func checkWidgets(_ view: DeviceView) {
        let surfaces = view.tokens.map(\.name).filter {
            $0 == "widget" || $0.hasPrefix("control:")
        }
        let refused = view.refused.filter {
            $0.name.text == "widget" || $0.name.text.hasPrefix("control:")
        }
        if let standing = refused.first {
            add(
                .widgetToken, .lacks,
                "\(standing.refused ?? "Apple refused \(standing.name.text)").", standing.cure)
        } else if !surfaces.isEmpty {
            add(.widgetToken, .done, "Registered: \(surfaces.joined(separator: ", ")).")
        } else if view.hasTimelines, view.registration.isOlder(than: 26) {
            add(
                .widgetToken, .notDue,
                "iOS \(view.registration.os ?? "") reloads no widget by push (26 and later): its widgets reload "
                    + "by themselves.")
        } else if view.hasTimelines {
            add(
                .widgetToken, .lacks,
                "There are timelines for this device, and it has no token of its widgets: they "
                    + "reload by themselves only.",
                "register the token of WidgetPushHandler as \"widget\" (iOS 26 and later)")
        } else {
            add(.widgetToken, .notDue, "No timeline is for this device, and no widget is known.")
        }
    }

    /// Writes the answer of `GET /v1/devices/{device}/check`.
    package func write(membersTo writer: inout JSONWriter) {
        writer.member("device", device.rawValue)
        writer.member("complete", isComplete)
        writer.array("steps", of: steps) { writer, step in
            writer.object { writer in
                writer.member("step", step.name.rawValue)
                writer.member("state", step.state.rawValue)
                writer.member("text", step.text)
                writer.optional("next", step.next)
            }
        }
    }
}
