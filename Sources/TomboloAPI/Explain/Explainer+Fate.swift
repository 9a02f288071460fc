import TomboloCore

// The result of a version, as a word and as a sentence.

extension Explainer {
    // MARK: Result

    var fateCode: String {
        guard let fate, let decision else { return waitingCode }
        switch decision {
        case .sent, .merged:
            // Versions waiting for an old card are sent with the first push of the renewed card.
            guard fate.record.attempt != nil else { return "merged" }
            if blindKill != nil { return "relay_killed" }
            return decision == .merged ? "merged" : "accepted"
        case .unchanged where evidence.asked.kind == .play: return "clip"
        case .noRoute, .annihilated:
            return lastTry.flatMap { triedCode($0) } ?? decision.reason ?? decision.action
        default: return decision.reason ?? decision.action
        }
    }

    /// True if the card gets no more pushes.
    private var hasNoCard: Bool {
        ["gone", "unreachable", "ended", "lapsed"].contains(evidence.destination?.phase)
    }

    private var waitingCode: String {
        if let waiting = evidence.destination?.waiting, case .deferred(_, let reason) = waiting {
            return reason.name
        }
        if evidence.destination == nil {
            return evidence.channel == nil ? "no_destination" : "on_channel"
        }
        if hasNoCard { return "no_route" }
        return thinning?.code ?? "not_on_record"
    }

    var fateText: String {
        let version = evidence.asked.version
        guard let fate, let decision else { return waitingText }
        let push = fate.record.attempt.map { Self.text(fate, $0) + Self.reserve($0) } ?? ""
        switch decision {
        case .sent: return "Version \(version) went to \(evidence.device). \(push)\(listeners)"
        case .merged where fate.record.attempt == nil:
            return "Version \(version) went into the card that took the place of the old one."
        case .merged where blindKill != nil:
            return "\(maybeGone) After that, version \(fate.record.version) went. \(push)"
        case .merged:
            return
                "Version \(version) was merged into version \(fate.record.version). \(push)"
                + listeners
        case .refused:
            return "\(triedText ?? "Apple refused the push with version \(version).") \(push)"
        case .expired:
            return "Version \(version) never went to \(evidence.device): its card was over."
        case .unchanged where evidence.asked.kind == .play:
            return
                "Version \(version) is a clip, and had no push of its own: its frames are counted by "
                + "the minute (`clip.frames` in `tombolo log ls --kind fact`)."
        case .noRoute where userChange != nil:
            return
                "Version \(version) was not sent to \(evidence.device): its card was for another user."
        case .noRoute, .annihilated:
            if let triedText { return triedText }
            if let refusedText {
                return "Version \(version) was not sent to \(evidence.device). \(refusedText)"
            }
            return "Version \(version) was not sent to \(evidence.device). "
                + (decision.reasonText ?? "") + startHold
        case .unchanged, .superseded, .onChannel, .notVisible:
            return "Version \(version) was not sent to \(evidence.device). "
                + (decision.reasonText ?? "")
        case .startWait:
            if let triedText { return "\(triedText) \(decision.reasonText ?? "")\(startHold)" }
            return "Version \(version) was not sent to \(evidence.device). "
                + (decision.reasonText ?? "") + startHold
        }
    }

    /// A sentence if Apple had refused the token by the time of the decision.
    private var refusedText: String? {
        guard let destination = evidence.destination, let fate,
            destination.token?.refusal.map({ $0.at <= fate.at }) ?? false
        else { return nil }
        return destination.refusedText
    }

    /// A sentence if an urgent version's push was sent at lower priority, with the reason.
    private static func reserve(_ attempt: DeliveryRecord.Attempt) -> String {
        attempt.reserve.map { " It went at priority \(attempt.priority): \($0.text)." } ?? ""
    }

    /// If a start was given up because it waited too long, or until its activity was over: its
    /// longest wait. Else nil.
    var longestStartWait: WaitSpan? {
        guard decision == .startWait || decision == .annihilated else { return nil }
        return fate?.record.held.max { $0.span < $1.span }
    }

    private var startHold: String {
        longestStartWait.map {
            " It waited \(Self.length($0.span)) for this: \($0.reason.cause)"
        } ?? ""
    }

    /// A sentence for a broadcast, because Apple accepts it even if no phone listens.
    private var listeners: String {
        isChannel && isWithApple ? " Who listens on the channel is unknown." : ""
    }

    private var waitingText: String {
        let (version, device) = (evidence.asked.version, evidence.device)
        guard let destination = evidence.destination else {
            if let channel = evidence.channel {
                return
                    "\(evidence.activity) goes to the channel \(channel), and not to phones one by "
                    + "one. Apple does not say which phones listen."
            }
            return
                "The log has no push of version \(version) to \(device): the phone is not in the "
                + "audience of \(evidence.activity), or its card ended long ago."
        }
        if case .deferred(let until, let reason)? = destination.waiting {
            return [triedText, "Version \(version) still waits.", waitText(reason, until)]
                .compactMap { $0 }.joined(separator: " ")
        }
        if let thinning {
            return "The history has no line of version \(version) at \(device). \(thinning.text)"
        }
        if destination.acknowledgedVersion >= version {
            return "Apple has taken version \(destination.acknowledgedVersion) for \(device). How "
                + "it went there is not on record any more."
        }
        if hasNoCard {
            return
                "Version \(version) did not go to \(device): its card is \(destination.phase). How "
                + "that came is not on record any more."
        }
        return "Version \(version) is on its way to \(device)."
    }

    private func waitText(_ reason: WaitReason, _ until: Instant?) -> String {
        if reason == .unknownStart, !evidence.deliveries.contains(where: \.isUnansweredStart) {
            return
                "Whether Apple took the start is not on record, so nobody knows whether the card is "
                + "there. The relay waits for a sign of it."
        }
        let cause = evidence.destination?.waitingText ?? reason.sentence
        guard let until else { return cause }
        let keepsRest = (evidence.destination?.grant.grant.reserve ?? 0) > 0
        if reason == .bucket, keepsRest {
            return "\(cause) What is left of it is kept for alerts until \(until.rfc3339)."
        }
        return "\(cause) The next try is at \(until.rfc3339)."
    }

    // MARK: Pushes that did not decide the version

    /// The last push that contained the version, unless Apple accepted it.
    var lastTry: DeliveryEntry? {
        if let fate, fate.record.attempt != nil { return fate }
        let until = fate?.at ?? evidence.now
        return evidence.deliveries.last { entry in
            entry.record.version >= evidence.asked.version && entry.at <= until
                && entry.record.attempt.map { $0.answer != .accepted } ?? false
        }
    }

    /// The code for the failure of this push; nil if Apple accepted it or it was never sent.
    private func triedCode(_ entry: DeliveryEntry) -> String? {
        switch entry.record.attempt?.answer {
        case .refused: refusal.code
        case .unknown: "unknown"
        case .accepted, .notSent, nil: nil
        }
    }

    /// A sentence about the last push of the version and Apple's answer; nil if none reached Apple.
    private var triedText: String? {
        guard let lastTry else { return nil }
        let (version, of) = (evidence.asked.version, lastTry.record.version)
        let name =
            of == version
            ? "version \(version)" : "version \(of), which has version \(version) in it"
        switch lastTry.record.attempt?.answer {
        case .refused(let status, let reason):
            return "Apple refused the push with \(name): \(status) \(reason)."
        case .unknown: return "The push with \(name) went, and Apple's answer is not known."
        case .accepted, .notSent, nil: return nil
        }
    }
}

extension DeliveryEntry {
    /// True for a start's push to which Apple gave no answer.
    fileprivate var isUnansweredStart: Bool {
        guard let attempt = record.attempt, attempt.event == .start,
            case .unknown = attempt.answer
        else { return false }
        return true
    }
}
