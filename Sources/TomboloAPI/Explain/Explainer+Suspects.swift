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
        var found: [Suspect] = []
        if let dismissal, decision == .noRoute || decision == nil { found.append(dismissal) }
        if decision == .noRoute || decision == nil, let retired = retiredToken {
            found.append(retired)
        }
        switch decision {
        case .refused: found.append(refusal)
        case nil:
            found += outages.filter { $0.until == nil }.map(suspect)
            found.append(waitingSuspect)
            found += outages.filter { $0.until != nil }.map(suspect)
        default:
            found.append(Suspect(fateCode, fateText, speaksFor: [fate.map(Self.text(line:)) ?? ""]))
        }
        return found
    }

    private static func text(line entry: DeliveryEntry) -> String {
        "Delivery \(entry.id) of \(entry.at.rfc3339) says so."
    }

    private func suspect(_ outage: Outage) -> Suspect {
        Suspect(outage.code, outage.text, speaksFor: ["It is a fact of the log: \(outage.code)."])
    }

    private var waitingSuspect: Suspect {
        guard let destination = evidence.destination else {
            let reason =
                evidence.registration == nil
                ? "No device \(evidence.device) is registered."
                : "The activity has no destination of that device."
            let code = evidence.registration == nil ? "unknown_device" : "no_destination"
            return Suspect(code, fateText, speaksFor: [reason])
        }
        var reasons = ["The destination's phase is \(destination.phase)."]
        if evidence.registration == nil, !destination.isChannel {
            reasons.append("No device \(evidence.device) is registered.")
            return Suspect("unknown_device", fateText, speaksFor: reasons)
        }
        return Suspect(fateCode, fateText, speaksFor: reasons)
    }

    private var refusal: Suspect {
        guard case .refused(let status, let reason)? = fate?.record.attempt?.answer else {
            return Suspect("refused", fateText, speaksFor: [])
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
        return Suspect(code, text, speaksFor: [answer, fate.map(Self.text(line:)) ?? ""])
    }

    /// The user took the card away.
    private var dismissal: Suspect? {
        let report = evidence.phone.last { fact in
            fact.kind == "card.reported" && Self.string(fact, "phase") == "dismissed"
        }
        guard let report, report.recordedAt <= window.upperBound else { return nil }
        let by = Self.string(report, "by") ?? "user"
        return Suspect(
            "dismissed", "The \(by) dismissed the card on \(evidence.device).",
            speaksFor: [
                "\(evidence.device) reported so at \(report.recordedAt.rfc3339)."
            ])
    }

    private var retiredToken: Suspect? {
        let fact = evidence.phone.last {
            $0.kind == "token.retired" || $0.kind == "token.deleted" || $0.kind == "device.deleted"
        }
        guard let fact, fact.recordedAt <= window.upperBound else { return nil }
        if let token = Self.string(fact, "token") {
            let again = evidence.phone.contains {
                $0.kind == "token.registered" && $0.recordedAt > fact.recordedAt
                    && Self.string($0, "token") == token
            }
            guard !again else { return nil }
            let who = fact.kind == "token.retired" ? "Apple called it dead" : "the app deleted it"
            return Suspect(
                "token_gone", "\(evidence.device) has no token \(token) any more: \(who).",
                speaksFor: ["It is a fact of \(fact.recordedAt.rfc3339)."])
        }
        return Suspect(
            "device_deleted", "The device was deleted.",
            speaksFor: ["It is a fact of \(fact.recordedAt.rfc3339)."])
    }

    // MARK: Apple took it, and nothing changed

    /// Silent failures: Apple says 200 to all of them.
    private var silent: [Suspect] {
        guard let fate, let attempt = fate.record.attempt else { return [] }
        var found: [Suspect] = []
        if let moment = evidence.moment, fate.at > moment { found += late(fate) }
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
        if let silence = silence(fate) { found.append(silence) }
        return found
    }

    /// It reached Apple after the moment that is asked about.
    private func late(_ fate: DeliveryEntry) -> [Suspect] {
        let outages = outages.map(suspect)
        let held = fate.record.held.sorted { $0.span > $1.span }.map { part in
            Suspect(
                part.hold.name, "It waited \(Self.length(part.span)). \(part.hold.sentence)",
                speaksFor: [Self.text(line: fate)])
        }
        // What held it is known better by its cause.
        let isOutage = held.first.map { ["lane_parked", "paused"].contains($0.code) } ?? true
        return isOutage ? outages + held : held + outages
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
        let heard = evidence.phone.last { $0.kind != "token.retired" }
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
        case "upstream_closed", "wrong_topic", "wrong_environment", "disk_full":
            found.append("tombolo doctor")
        case "paused": found.append("tombolo resume")
        case "refused", "payload_too_large": found.append("tombolo dead ls")
        case "bucket", "device_bucket", "start_budget", "phone_budget", "spacing":
            found.append("tombolo budget show --device \(device)")
        case "unknown_device", "no_destination", "no_start_token", "no_update_token",
            "token_gone", "device_deleted", "start_not_confirmed", "dismissed":
            found.append("tombolo device ls")
        default: break
        }
        found.append("tombolo delivery ls --activity \(activity) --device \(device)")
        return found
    }
}

extension DeliveryRecord {
    /// When the push of a start went at the latest: a phone may answer before Apple does.
    fileprivate func startedBefore(_ answeredAt: Instant) -> Instant {
        answeredAt - (attempt?.took ?? .zero)
    }
}
