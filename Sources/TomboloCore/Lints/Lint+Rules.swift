import TomboloJSON

// Lints that need only a command, a type, a timeline or a registration.

extension Lint {
    /// The channel on which a start's cards listen, as text; nil if each card has its own token.
    static func channel(of start: Start) -> String? {
        if case .channel(let name) = start.audience { return "the channel \"\(name)\"" }
        return switch start.route {
        case .channel: "the activity's own channel"
        case .auto: "the activity's own channel, which iOS 18 and later listen on"
        case .unspecified, .push, .adopt: nil
        }
    }

    /// The lint for a registration with another environment or app: the device loses its tokens.
    static func ofMove(_ tokens: Int) -> Lint {
        Lint(
            .environmentChanged, "/environment",
            "is another than before, or the app is: \(tokens == 1 ? "the token" : "the \(tokens) tokens") "
                + "of before mean nothing there and are forgotten; register those of this "
                + "installation")
    }

    /// A lint for a device that gets another user while keys of former users can still be used.
    package static func ofFormerKeys(_ count: Int) -> [Lint] {
        guard count > 0 else { return [] }
        let keys = count == 1 ? "a key" : "\(count) keys"
        return [
            Lint(
                .formerKeyLives, "/user",
                "is another than before, and \(keys) of this device for other users can still be "
                    + "used: widgets that keep such a key are refused (key-of-former-user) and "
                    + "show what they had; give the app and its widgets a key of the new user, "
                    + "and delete the others (tombolo key ls)")
        ]
    }

    /// A lint for a token or a report under an id that no running activity for the device has.
    static func ofStranger(_ reference: ActivityReference) -> [Lint] {
        [
            Lint(
                .activityIDUnknown, "",
                "no activity that runs for this device has the id \(reference.text); if that is ActivityKit's "
                    + "own Activity.id, send the id that the attributes have in activity_id")
        ]
    }

    static func ofOlderState(_ update: Update, _ activity: Activity) -> [Lint] {
        guard let number = update.stateVersion, let known = activity.accepted.stateVersion,
            number < known
        else { return [] }
        return [
            Lint(
                .stateVersionOlder, "/state_version",
                "is older than \(known), which came before: the state stays as it is")
        ]
    }

    /// The lint for a change that is sent at priority 5, because no push of priority 10 is left.
    static func beyondBudget(_ update: Update, _ closing: Closing, now: Instant) -> Lint {
        let wait = Span.seconds((closing.until - now).nanoseconds / 1_000_000_000 + 1).roundedText
        let cause = closing.reserve.map { ": \($0.text)" } ?? ""
        return update.alert != nil
            ? Lint(
                .priorityBeyondBudget, "/alert",
                "no push at priority 10 is left for \(wait): the alert goes at 5, and may ring "
                    + "late; keep alerts for what cannot wait")
            : Lint(
                .priorityBeyondBudget, "/urgency",
                "no push at priority 10 is left for this for \(wait)\(cause); it goes at 5, when the "
                    + "phone likes; keep \"high\" for what cannot wait")
    }

    /// The lint for a start whose phone may begin no more cards now.
    static func beyondStartBudget(_ device: Identifier, until: Instant, now: Instant) -> Lint {
        let wait = Span.seconds((until - now).nanoseconds / 1_000_000_000 + 1).roundedText
        return Lint(
            .priorityBeyondBudget, "/audience",
            "\(device) may begin no more cards for \(wait): the start waits, and if the activity "
                + "ends before, the card never begins")
    }

    static func of(_ end: End, now: Instant) -> [Lint] {
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

    static func of(_ state: JSON, _ type: ActivityType?) -> [Lint] {
        guard let schema = type?.state else {
            guard DateLint.mayBeIn(state.bytes) else { return [] }
            return DateLint.lints(
                of: state.document.root, at: "/state", dates: type?.dates ?? .swiftReference)
        }
        return schema.unknownMembers(in: state.document.root, at: "/state")
    }

    /// Lints for required members that older apps do not send or decode.
    static func of(_ type: ActivityType, replacing old: ActivityType?) -> [Lint] {
        guard let schema = type.state, let before = old?.state else { return [] }
        return schema.required.filter { !before.required.contains($0) }.map { name in
            Lint(
                .newRequiredField, "/state/required",
                "\"\(name)\" is newly required: apps from before do not know it, and a new app "
                    + "drops every state without it; give the Swift property a default instead")
        }
    }

    /// A lint for links in a timeline whose type has only widget families that cannot show them.
    static func of(_ timeline: Timeline, _ type: ActivityType?) -> [Lint] {
        guard let families = type?.families, !families.haveLinks else { return [] }
        func has(_ outline: JSONOutline) -> Bool { outline["links"] != nil }
        let pointer =
            has(timeline.outline)
            ? "/links"
            : timeline.entryOutlines.firstIndex(where: has).map { "/entries/\($0)/links" }
        guard let pointer else { return [] }
        return [
            Lint(
                .linksInSmallFamilies, pointer,
                "have no effect: the type has cuts for families with one place to tap only, and a "
                    + "tap opens \"url\"")
        ]
    }

    /// A lint for a device that does not name its environment, so that the relay guesses it.
    static func of(
        _ registration: DeviceRegistration, in environment: APNsEnvironment
    ) -> [Lint] {
        guard registration.environment == nil else { return [] }
        return [
            Lint(
                .environmentUnstated, "/environment",
                "is not said, and \(environment.name) is taken: Apple answers BadDeviceToken to a token "
                    + "of the other one; what Xcode installs is sandbox, what comes from TestFlight "
                    + "or the store is production")
        ]
    }
}
