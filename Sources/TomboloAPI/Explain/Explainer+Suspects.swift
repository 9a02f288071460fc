import TomboloCore

// Which causes fit what is known, the most likely first.

extension Explainer {
    var suspects: [Suspect] {
        if shown != nil { return [] }
        return isWithApple ? silent : loud
    }

    // MARK: It never reached the phone

    /// Causes that the relay knows of.
    private var loud: [Suspect] {
        let losses = [dismissal, retiredToken].compactMap { $0 }
        switch decision {
        case nil: return lacksRoute ? losses + waitingSuspects : waitingSuspects + losses
        case .refused: return [refusal]
        case .noRoute: return losses + [fateSuspect]
        default: return [fateSuspect]
        }
    }

    private var fateSuspect: Suspect {
        Suspect(fateCode, fateText, speaksFor: fate.map { [Self.text(line: $0)] } ?? [])
    }

    /// Whether a version waits for a way to the phone, or has none.
    private var lacksRoute: Bool {
        guard case .deferred(_, let hold)? = evidence.destination?.waiting else { return true }
        return [.startToken, .updateToken, .stranded].contains(hold)
    }

    /// What may hold a version that nothing has decided.
    private var waitingSuspects: [Suspect] {
        // Where it could not go anyhow, what happened to the relay is beside the point.
        guard evidence.destination != nil else { return [waitingSuspect] }
        let then = outagesThen
        let other = outages.filter { outage in !then.contains { $0.text == outage.text } }
        let lasting = other.filter { $0.until == nil }.map(suspect)
        guard case .deferred(_, let hold)? = evidence.destination?.waiting else {
            let over = other.filter { $0.until != nil }.map(suspect)
            return then.map(suspect) + lasting + [waitingSuspect] + over
        }
        // What the outage says is the same, and more.
        let isKnown = outages.contains { $0.until == nil && $0.code == Self.outages[hold] }
        return then.map(suspect) + (isKnown ? [] : [waitingSuspect]) + lasting
    }

    /// Holds whose cause is an outage.
    private static let outages: [Hold: String] = [
        .laneParked: "upstream_closed", .paused: "paused", .reserving: "disk_full",
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
        let isUnknown =
            evidence.registration == nil && evidence.destination?.isChannel != true
        if isUnknown {
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

    private var refusal: Suspect {
        fate.flatMap(refusal) ?? Suspect("refused", fateText, speaksFor: [])
    }

    /// What Apple refused, and why; nil where it did not.
    private func refusal(_ entry: DeliveryEntry) -> Suspect? {
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

    /// The push whose refusal cost a token that may be alive: another app's, or the other
    /// environment's.
    private func misplacement(_ retirement: NewFact) -> Suspect? {
        let refused = evidence.deliveries.last { entry in
            guard case .refused(400, _)? = entry.record.attempt?.answer else { return false }
            return entry.at <= retirement.recordedAt
        }
        guard let refused, let status = refused.record.attempt?.answer.status,
            let reason = refused.record.attempt?.answer.reason,
            var suspect = refusal(refused),
            ["wrong_topic", "wrong_environment"].contains(suspect.code)
        else { return nil }
        suspect.text = "Apple refused it: \(status) \(reason). \(suspect.text)"
        return suspect
    }

    /// What is asked about ends here.
    private var end: Instant { evidence.moment ?? evidence.now }

    /// The card was taken away, and no other came in its place.
    var dismissal: Suspect? {
        let upTo = isWithApple ? end : window.upperBound
        let last = evidence.phone.last { fact in
            fact.recordedAt <= upTo && (fact.kind == "card.reported" || isOfCard(fact))
        }
        guard let last, Self.string(last, "phase") == "dismissed" else { return nil }
        let by = Self.string(last, "by") ?? "user"
        return Suspect(
            "dismissed", "The \(by) dismissed the card on \(evidence.device).",
            speaksFor: ["\(evidence.device) reported so at \(last.recordedAt.rfc3339)."])
    }

    /// Whether a token of the card came.
    private func isOfCard(_ fact: NewFact) -> Bool {
        fact.kind == "token.registered"
            && Self.string(fact, "token") == "activity:\(evidence.activity)"
    }

    private var retiredToken: Suspect? {
        let fact = evidence.phone.last { fact in
            guard fact.recordedAt <= window.upperBound else { return false }
            return fact.kind == "device.deleted" || isLoss(fact)
        }
        guard let fact else { return nil }
        let again = evidence.phone.contains {
            $0.recordedAt > fact.recordedAt
                && ($0.kind == "token.registered" && fact.kind != "device.deleted"
                    && Self.string($0, "token") == Self.string(fact, "token")
                    || $0.kind == "device.registered" && fact.kind == "device.deleted")
        }
        guard !again else { return nil }
        let reasons = ["This was at \(fact.recordedAt.rfc3339)."]
        guard fact.kind != "device.deleted" else {
            return Suspect(
                "device_deleted", "The device \(evidence.device) was deleted.", speaksFor: reasons)
        }
        if fact.kind == "token.retired", let misplacement = misplacement(fact) {
            return misplacement
        }
        let who =
            fact.kind == "token.retired"
            ? "Apple called it dead"
            : "the app deleted it, or registered it for another device"
        return Suspect(
            "token_gone",
            "\(evidence.device) lost its token \(Self.string(fact, "token") ?? ""): \(who).",
            speaksFor: reasons)
    }

    /// Whether a token went without which this version cannot go.
    private func isLoss(_ fact: NewFact) -> Bool {
        guard ["token.retired", "token.deleted"].contains(fact.kind),
            let token = Self.string(fact, "token")
        else { return false }
        if token == "activity:\(evidence.activity)" { return true }
        let needsStart =
            evidence.asked.kind == .start || fateCode == Hold.startToken.name
        return needsStart && token.hasPrefix("start:")
    }

    // MARK: Apple took it, and nothing changed

    /// Silent failures: Apple says 200 to all of them.
    private var silent: [Suspect] {
        guard let fate, let attempt = fate.record.attempt else { return [] }
        var found: [Suspect] = []
        if let moment = evidence.moment, fate.at > moment {
            found += late(fate)
        } else if evidence.moment == nil, let merger {
            found.append(merger)
        }
        if let dismissal { found.append(dismissal) }
        if let retired = retiredAfter(fate) { found.append(retired) }
        if attempt.event == .start, let start = unconfirmedStart(fate) { found.append(start) }
        if let missed { found.append(missed) }
        if let spent = spentBudget(fate) { found.append(spent) }
        if attempt.priority == 5 {
            found.append(
                Suspect(
                    "low_priority",
                    "The system may hold a push of priority 5 back to save power.",
                    speaksFor: ["The push had priority 5."]))
        }
        if !isChannel, let silence = silence(fate) { found.append(silence) }
        return found
    }

    /// No push carried the version itself.
    private var merger: Suspect? {
        guard decision == .merged, let fate, fate.record.version > evidence.asked.version else {
            return nil
        }
        return Suspect(
            "merged",
            "Version \(fate.record.version) came before version \(evidence.asked.version) could go, "
                + "and took its place.",
            speaksFor: [Self.text(line: fate)])
    }

    /// It reached Apple after the moment that is asked about: what happened at that moment, then
    /// what held it, the longest first.
    private func late(_ fate: DeliveryEntry) -> [Suspect] {
        let then = outagesThen
        let other = outages.filter { outage in !then.contains { $0.text == outage.text } }
            .map(suspect)
        let parts = fate.record.held.sorted { $0.span > $1.span }.filter { part in
            // What held it is known better by its cause.
            let isKnown = outages.contains { $0.code == Self.outages[part.hold] }
            return part.span >= Self.heldMin && !isKnown
        }
        let held = parts.map { part in
            Suspect(
                part.hold.name, "It waited \(Self.length(part.span)). \(part.hold.sentence)",
                speaksFor: [Self.text(line: fate)])
        }
        return then.map(suspect) + held + other
    }

    private func retiredAfter(_ fate: DeliveryEntry) -> Suspect? {
        let fact = evidence.phone.last {
            $0.kind == "token.retired" && $0.recordedAt > fate.at
        }
        guard let fact, let token = Self.string(fact, "token") else { return nil }
        return Suspect(
            "token_gone",
            "The card or the app was already gone: Apple reports a dead token late.",
            speaksFor: ["Apple called the token \(token) dead at \(fact.recordedAt.rfc3339)."])
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

    /// The phone itself showed something older when it should have had this.
    private var missed: Suspect? {
        let report = evidence.phone.last {
            $0.kind == "card.reported" && Self.string($0, "misses_push") != nil
        }
        guard let report else { return nil }
        return Suspect(
            "phone_dropped_it", "The phone took the push and did not draw it.",
            speaksFor: [
                "\(evidence.device) reported at \(report.recordedAt.rfc3339) that it shows version "
                    + "\(Self.number(report, "shown_version").map(String.init) ?? "unknown")."
            ])
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

    private func silence(_ fate: DeliveryEntry) -> Suspect? {
        let heard = lastHeard(upTo: end)
        if let heard, heard.recordedAt > fate.at { return nil }
        let last = heard.map { "The last sign of life is of \($0.recordedAt.rfc3339)." }
        return Suspect(
            "phone_unreachable",
            "The phone may be off or offline: Apple keeps the newest push for it.",
            speaksFor: [last ?? "The phone has never been heard."])
    }

    // MARK: What to do

    func commands(for code: String?) -> [String] {
        let (activity, device) = (evidence.activity, evidence.device)
        var found: [String] = []
        switch code {
        case "upstream_closed", "disk_full": found.append("tombolo doctor")
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
            "token_gone", "device_deleted", "start_not_confirmed", "dismissed":
            found.append("tombolo device ls")
        default: break
        }
        if let channel = evidence.channel, evidence.destination == nil {
            found.append("tombolo why \(activity) \(channel) \(evidence.asked.version)")
        }
        // A filter by a device that nobody registered is refused.
        let ofDevice = evidence.registration == nil ? "" : " --device \(device)"
        found.append("tombolo delivery ls --activity \(activity)\(ofDevice)")
        return found
    }
}

extension DeliveryRecord {
    /// When the push of a start went at the latest: a phone may answer before Apple does.
    fileprivate func startedBefore(_ answeredAt: Instant) -> Instant {
        answeredAt - (attempt?.took ?? .zero)
    }
}
