import TomboloCore

// The causes that fit the evidence, the most likely first.

extension Explainer {
    var suspects: [Suspect] {
        let causes = shown != nil ? [] : hiddenFrames + (isWithApple ? silent : loud)
        let found = silentProducer + causes.compactMap(weighed)
        guard let refusedEvents else { return found }
        return [refusedEvents] + found.filter { $0.code != refusedEvents.code }
    }

    /// A cause if the card is stale because its producer has sent nothing for `stale_after`.
    private var silentProducer: [Suspect] {
        guard let staleAt = evidence.staleAt, staleAt <= evidence.now, evidence.moment == nil,
            evidence.asked.version == evidence.newest, evidence.status == .active
        else { return [] }
        let since = evidence.asked.recordedAt.rfc3339
        return [
            Suspect(
                "producer_silent",
                "The producer is silent since \(since): the card is stale since "
                    + "\(staleAt.rfc3339).",
                speaksFor: ["Version \(evidence.newest) is the last event, of \(since)."]
                    + [producerRefused?.text].compactMap { $0 })
        ]
    }

    // MARK: The push never reached the phone

    /// Causes that are certain, because the relay itself knows them.
    private var loud: [Suspect] {
        let losses = [userChange ?? dismissal, retiredToken].compactMap { $0 }
        switch decision {
        case nil: return lacksRoute ? losses + waitingSuspects : waitingSuspects + losses
        case .refused: return [refusal]
        case .noRoute:
            let cause = isRefused ? refusal : fateSuspect
            // If Apple never knew the token, this explains more than the token's loss.
            if isRefused, cause.code != "token_gone" { return [cause] + losses }
            return losses + (losses.contains { $0.code == cause.code } ? [] : [cause])
        default: return [fateSuspect]
        }
    }

    /// True if Apple refused the last push that contained the version.
    private var isRefused: Bool {
        guard case .refused? = lastTry?.record.attempt?.answer else { return false }
        return true
    }

    private var fateSuspect: Suspect {
        Suspect(fateCode, fateText, speaksFor: fate.map { [Self.text(line: $0)] } ?? [])
    }

    /// True if the version is undecided or was refused for want of a token or card on the phone.
    private var lacksRoute: Bool {
        guard case .deferred(_, let reason)? = evidence.destination?.waiting else { return true }
        return [.startToken, .updateToken, .stranded].contains(reason)
    }

    /// Suspects for a version that is still undecided.
    private var waitingSuspects: [Suspect] {
        // Without a destination the version could not be sent anyway, so outages do not matter.
        guard evidence.destination != nil else { return [waitingSuspect] }
        let then = outagesThen
        let other = outages.filter { outage in !then.contains { $0.text == outage.text } }
        let lasting = other.filter { $0.until == nil }.map(suspect)
        guard case .deferred(_, let reason)? = evidence.destination?.waiting else {
            let over = other.filter { $0.until != nil }.map(suspect)
            return then.map(suspect) + lasting + [waitingSuspect] + over
        }
        // A push before a kill may have carried the version without a record.
        let lost = other.filter { $0.until != nil && $0.text == blindKill?.text }.map(suspect)
        let waiting =
            [activitiesOff, wrongType, waitingSuspect].compactMap { $0 } + unheard(reason)
        if reason == .unknownStart { return then.map(suspect) + lost + waiting + lasting }
        // The outage is the same cause in more detail, so leave out the reason for waiting.
        let isKnown = outages.contains { $0.until == nil && $0.code == Self.outages[reason] }
        return then.map(suspect) + (isKnown ? [] : waiting) + lasting + lost
    }

    /// A cause if the phone was already silent before its start: it may never have begun the card.
    private func unheard(_ reason: WaitReason) -> [Suspect] {
        guard reason == .updateToken else { return [] }
        let start = evidence.deliveries.last {
            $0.record.attempt?.event == .start && $0.record.attempt?.answer == .accepted
        }
        return start.flatMap { silence($0) }.map { [$0] } ?? []
    }

    /// Cause if the user has switched Live Activities off for the app.
    private var activitiesOff: Suspect? {
        guard evidence.moment == nil, evidence.registration?.registration.activitiesEnabled == false
        else { return nil }
        return Suspect(
            "activities_off",
            "The user has switched Live Activities off for the app: the phone shows no card.",
            speaksFor: ["The app says so in its registration (activities_enabled)."])
    }

    /// Cause if a start waits for a token of its type and the phone has one of a similar type.
    private var wrongType: Suspect? {
        // If Apple refused the type's start token, there was a token: the name is right.
        guard case .deferred(_, .startToken)? = evidence.destination?.waiting,
            evidence.destination?.token?.refusal == nil
        else { return nil }
        let ofPhone = (evidence.registration?.tokens ?? []).compactMap { token in
            token.name.hasPrefix("start:") ? String(token.name.dropFirst(6)) : nil
        }
        let known = (evidence.typeCheck?.registered ?? []) + ofPhone
        guard !known.contains(evidence.type),
            let nearest = nearestName(to: evidence.type, among: known)
        else { return nil }
        return Suspect(
            "type_not_registered",
            "No app has a type \"\(evidence.type)\": did you mean \"\(nearest)\"? A misspelt type "
                + "starts no card.",
            speaksFor: [
                "The type \(evidence.type) is not registered, and \(evidence.device) has no start "
                    + "token for it."
            ])
    }

    /// A cause if faults of the newest state may make the phone's decoder fail.
    private var undecodable: Suspect? {
        guard evidence.asked.version == evidence.newest, let check = evidence.typeCheck,
            let first = check.faults.first
        else { return nil }
        let more = check.faults.count > 1 ? " (and \(check.faults.count - 1) more)" : ""
        return Suspect(
            "state_does_not_decode",
            "The state is not what its type \(evidence.type) asks for: the phone drops a push that it "
                + "cannot decode.",
            speaksFor: ["\(first)\(more)."])
    }

    /// A cause if phones ignore the version's alert because it has no title.
    private var ignoredAlert: Suspect? {
        evidence.asked.alertFault.map {
            Suspect(
                "alert_not_taken",
                "Phones ignore this alert, its sound with it: give it a title.",
                speaksFor: ["The alert of version \(evidence.asked.version) \($0)."])
        }
    }

    private var unchecked: Suspect? {
        guard let check = evidence.typeCheck, !check.hasSchema else { return nil }
        return Suspect(
            "type_without_schema",
            "The relay has no schema of the type \(evidence.type), and checks no state: the phone drops a "
                + "push that it cannot decode.",
            speaksFor: [
                check.isRegistered
                    ? "The type is registered without a schema of its state."
                    : "The type is not registered."
            ])
    }

    /// The outages that cause reasons for waiting.
    private static let outages: [WaitReason: String] = [
        .upstreamClosed: "upstream_closed", .paused: "paused", .reserving: "disk_full",
    ]

    private static func text(line entry: DeliveryEntry) -> String {
        "Delivery \(entry.id) of \(entry.at.rfc3339) says so."
    }

    private func suspect(_ outage: Outage) -> Suspect {
        Suspect(
            outage.code, outage.text,
            speaksFor: ["The relay noted it at \((outage.until ?? outage.from).rfc3339)."])
    }

    private var waitingSuspect: Suspect {
        if evidence.registration == nil, !isChannel {
            return Suspect(
                "unknown_device", "No device \(evidence.device) is registered.",
                speaksFor: ["The relay knows no device of this name."])
        }
        guard let destination = evidence.destination else {
            return Suspect(
                fateCode, fateText,
                speaksFor: ["\(evidence.activity) does not go to \(evidence.device) now."])
        }
        return Suspect(
            fateCode, fateText, speaksFor: ["The phase of the card is \(destination.phase)."])
    }

    var refusal: Suspect {
        lastTry.flatMap(refusal) ?? Suspect("refused", fateText, speaksFor: [])
    }

    /// The cause of Apple's refusal; nil if Apple did not refuse the push.
    func refusal(_ entry: DeliveryEntry) -> Suspect? {
        guard case .refused(let status, let reason)? = entry.record.attempt?.answer else {
            return nil
        }
        let answer = "Apple answered \(status) \(reason)."
        let (code, text): (String, String)
        switch reason {
        case "BadTopic", "TopicDisallowed", "MissingTopic", "DeviceTokenNotForTopic":
            code = "wrong_topic"
            text =
                "The app's id in the configuration (\(evidence.app)) is not the one that the "
                + "token or the key is for."
        case "BadDeviceToken", "BadEnvironmentKeyInToken", "BadCertificateEnvironment":
            code = "wrong_environment"
            text =
                "The token is for the other environment (sandbox or production), or was changed "
                + "on its way to the relay."
        case "PayloadTooLarge":
            code = "payload_too_large"
            text = "The payload is larger than Apple takes."
        case "Unregistered", "ExpiredToken":
            code = "token_gone"
            text = "The token is dead: the app or its card was removed."
        default:
            code = "refused"
            text = "Apple refuses this push, and would refuse it again."
        }
        return Suspect(code, text, speaksFor: [answer, Self.text(line: entry)])
    }

    // MARK: Apple accepted the push, and nothing changed

    /// Causes without an error: Apple answers 200 in all these cases.
    private var silent: [Suspect] {
        guard let fate, let attempt = fate.record.attempt else { return [] }
        var found: [Suspect] = []
        if let moment = evidence.moment, fate.at > moment {
            found += late(fate)
        } else if evidence.moment == nil, let merger {
            found.append(merger)
        }
        if let loss = userChange ?? dismissal { found.append(loss) }
        if let retired = retiredAfter(fate) { found.append(retired) }
        if attempt.event == .start, let start = unconfirmedStart(fate) {
            found += doubtedStart(fate)
            found += [start, Self.lowPower("The start has no update token yet.")]
        }
        if let missed = missed(fate) { found.append(missed) }
        found += undrawn
        if let ignoredAlert { found.append(ignoredAlert) }
        if let undecodable { found.append(undecodable) }
        if let spent = spentBudget(fate) { found.append(spent) }
        if attempt.priority == 5 {
            found.append(
                Suspect(
                    "low_priority",
                    "The system may hold a push of priority 5 back to save power.",
                    speaksFor: ["The push had priority 5."]))
        }
        if !isChannel, let silence = silence(fate) { found.append(silence) }
        if !found.isEmpty, let unchecked { found.append(unchecked) }
        return found
    }

    /// A cause if the version was merged into a newer one, so that no push carried it.
    private var merger: Suspect? {
        guard decision == .merged, let fate, fate.record.version > evidence.asked.version else {
            return nil
        }
        if let blindKill { return suspect(blindKill) }
        return Suspect(
            "merged",
            "Version \(fate.record.version) came before version \(evidence.asked.version) could go, "
                + "and took its place.",
            speaksFor: [Self.text(line: fate)])
    }

    /// Causes of a push that reached Apple after the moment of the question: first the outages at
    /// that moment, then the reasons for waiting, the longest wait first.
    private func late(_ fate: DeliveryEntry) -> [Suspect] {
        let then = outagesThen
        let other = outages.filter { outage in !then.contains { $0.text == outage.text } }
            .map(suspect)
        let parts = self.held.sorted { $0.span > $1.span }.filter { part in
            // If an outage caused the wait, only the outage is named.
            let isKnown = outages.contains { $0.code == Self.outages[part.reason] }
            return part.span >= Self.heldMin && !isKnown
        }
        let held = parts.map { part in
            Suspect(
                part.reason.name, "It waited \(Self.length(part.span)). \(part.reason.sentence)",
                speaksFor: [Self.text(line: fate)])
        }
        return then.map(suspect) + held + other
    }

    private func unconfirmedStart(_ fate: DeliveryEntry) -> Suspect? {
        let came = evidence.phone.contains { fact in
            fact.kind == "token.registered" && fact.recordedAt >= fate.record.startedBefore(fate.at)
                && Self.string(fact, "token")?.hasPrefix("activity:") == true
        }
        guard !came, evidence.destination?.phase != "listening" else { return nil }
        return Suspect(
            "start_not_confirmed",
            "Apple took the start, and the app has registered no update token since. The phone may "
                + "not have started the card: Live Activities are off, the app was force-quit, or "
                + "the system's budget of starts is spent.",
            speaksFor: ["No token activity:\(evidence.activity) came after \(fate.at.rfc3339)."])
    }

    /// A cause if the start used a token that a system upgrade may have made invalid.
    private func doubtedStart(_ fate: DeliveryEntry) -> [Suspect] {
        let token = evidence.registration?.tokens.first { $0.name == "start:\(evidence.type)" }
        guard let token, let change = token.doubtedSince, change <= fate.at else { return [] }
        return [
            Suspect(
                "start_token_old", TokenStanding.doubt(since: change),
                speaksFor: ["The token was registered at \(token.registeredAt.rfc3339)."])
        ]
    }

    private func spentBudget(_ fate: DeliveryEntry) -> Suspect? {
        let hour = fate.at - .hours(1)
        let count = evidence.deliveries.count { entry in
            entry.record.attempt?.priority == 10 && entry.at > hour && entry.at <= fate.at
        }
        let isFrequent = evidence.registration?.registration.frequentUpdates ?? false
        guard count > (isFrequent ? 60 : 10) else { return nil }
        var reasons = ["\(count) pushes of priority 10 went in the hour before."]
        if !isFrequent { reasons.append("The app does not report frequent updates as allowed.") }
        return Suspect(
            "phone_budget", "The phone's own budget for this app may be spent: it drops pushes.",
            speaksFor: reasons)
    }

    // MARK: Commands

    func commands(for code: String?) -> [String] {
        let (activity, device) = (evidence.activity, evidence.device)
        var found: [String] = []
        switch longestStartWait?.reason.name ?? code {
        case "upstream_closed":
            found += ["tombolo doctor", "tombolo upstream retry \(evidence.app)"]
        case "disk_full", "log_full": found.append("tombolo doctor")
        case "wrong_topic", "wrong_environment":
            found += ["tombolo config check", "tombolo doctor"]
        case "paused":
            let pause = outages.first { $0.pause != nil && $0.until == nil }?.pause
            found.append(pause.map { "tombolo resume \($0)" } ?? "tombolo pause")
        case "refused", "payload_too_large": found.append("tombolo dead ls")
        case "bucket", "device_bucket", "start_budget", "phone_budget", "spacing",
            "low_priority_spacing", "device_spacing", "device_low_priority_spacing":
            found.append("tombolo budget show --device \(device)")
        case "unknown_device", "no_destination", "no_start_token", "no_update_token",
            "token_gone", "device_deleted", "start_not_confirmed", "dismissed", "user_changed":
            found.append("tombolo device ls")
        case "type_not_registered", "state_does_not_decode": found.append("tombolo type ls")
        default: break
        }
        if let channel = evidence.channel, evidence.destination == nil {
            found.append("tombolo why \(activity) \(channel) \(evidence.asked.version)")
        }
        // The relay refuses a filter that names an unregistered device.
        let isFilter = isChannel || evidence.registration != nil
        let filter = isFilter ? " --\(evidence.recipient.member) \(device)" : ""
        found.append("tombolo delivery ls --activity \(activity)\(filter)")
        return found
    }
}

extension DeliveryRecord {
    /// The latest time at which a start's push was sent. A phone may react before Apple answers.
    func startedBefore(_ answeredAt: Instant) -> Instant {
        answeredAt - (attempt?.took ?? .zero)
    }
}
