import TomboloCore

// Explains with the phone's reports, and with tokens or cards that it lost.

extension Explainer {
    /// A finding if the phone reported that it drew this version or a newer one.
    var shown: Finding? {
        guard let report = lastWord("drawn_version"),
            let version = Self.number(report, "drawn_version"), version >= evidence.asked.version
        else { return nil }
        return Finding(
            "shown",
            "\(evidence.device) reported at \(report.recordedAt.rfc3339) that it drew version "
                + "\(version).", at: report.recordedAt)
    }

    /// A finding if the phone reported that it received this version or a newer one. It may not
    /// have drawn it yet.
    var received: Finding? {
        if let report = lastWord("received_version"),
            let version = Self.number(report, "received_version"),
            version >= evidence.asked.version
        {
            return Finding(
                "received",
                "\(evidence.device) reported at \(report.recordedAt.rfc3339) that it has version "
                    + "\(version).\(undrawnSentence)", at: report.recordedAt)
        }
        guard dismissal == nil, userChange == nil, evidence.moment == nil,
            let destination = evidence.destination, destination.shownMatches == true,
            let word = destination.shown, word.phase != .dismissed, let shownAt = word.shownAt,
            shownAt >= evidence.asked.recordedAt
        else { return nil }
        return Finding(
            "received",
            "\(evidence.device) reported that it has the state of version \(evidence.newest)."
                + undrawnSentence, at: shownAt)
    }

    /// Most apps cannot know what is drawn, so nothing follows from their silence about it.
    private var undrawnSentence: String {
        reportsDrawing ? " It did not report that it drew it." : ""
    }

    /// Causes that a phone with the version refutes, because the push has arrived.
    private static let lostOnTheWay: Set<String> = [
        "low_priority", "phone_budget", "phone_unreachable", "start_not_confirmed",
        "start_token_old",
    ]
    /// Causes that it refutes, because its app has decoded the state.
    private static let undecoded: Set<String> = ["state_does_not_decode", "type_without_schema"]

    /// Weighs a cause against what the phone itself has said: nil if the phone refutes it.
    func weighed(_ suspect: Suspect) -> Suspect? {
        let isUndecoded = Self.undecoded.contains(suspect.code)
        guard isUndecoded || Self.lostOnTheWay.contains(suspect.code) else { return suspect }
        if received != nil { return nil }
        guard let word = lastWord("received_version"),
            let version = Self.number(word, "received_version")
        else { return suspect }
        if suspect.code == "type_without_schema" { return nil }
        var suspect = suspect
        suspect.speaksAgainst = [
            "\(evidence.device) reported at \(word.recordedAt.rfc3339) that it has version "
                + "\(version)"
                + (isUndecoded ? ", whose state it has decoded." : ": pushes have reached it.")
        ]
        return suspect
    }

    /// True if the phone has ever reported what it drew.
    var reportsDrawing: Bool {
        evidence.phone.contains { Self.number($0, "drawn_version") != nil }
            || evidence.destination?.shown?.drawn != nil
            || evidence.destination?.shown?.drawnState != nil
    }

    /// The card's last report with this member and a version that exists; nil if the phone then
    /// lost the card.
    private func lastWord(_ member: String) -> NewFact? {
        guard dismissal == nil, userChange == nil else { return nil }
        return evidence.phone.last { fact in
            // Ignore reports after the moment of the question.
            let isThen = evidence.moment.map { fact.recordedAt <= $0 } ?? true
            guard isThen, fact.kind == "card.reported", let version = Self.number(fact, member)
            else { return false }
            return version <= evidence.newest
        }
    }

    /// A finding for a report of a version that the relay never made. Such a report proves nothing.
    var unmade: Finding? {
        var doubted: (fact: NewFact, version: Int64)?
        for fact in evidence.phone where fact.kind == "card.reported" && fact.recordedAt <= end {
            let named = ["received_version", "drawn_version"].compactMap { Self.number(fact, $0) }
            if let version = named.max(), version > evidence.newest { doubted = (fact, version) }
        }
        return doubted.map { fact, version in
            Finding(
                "report_doubted",
                "\(evidence.device) reported at \(fact.recordedAt.rfc3339) that it has version "
                    + "\(version). The relay never made that version (the newest is "
                    + "\(evidence.newest)), so the report says nothing.", at: fact.recordedAt)
        }
    }

    /// End of the time that the question is about.
    var end: Instant { evidence.moment ?? evidence.now }

    /// A cause if the user removed the card and no other card replaced it.
    var dismissal: Suspect? {
        let upTo = isWithApple ? end : window.upperBound
        let last = evidence.phone.last { fact in
            fact.recordedAt <= upTo && (fact.kind == "card.reported" || isOfCard(fact))
        }
        guard let last, Self.string(last, "phase") == "dismissed" else { return nil }
        let ended = evidence.deliveries.last { $0.isEnd && $0.at <= last.recordedAt }
        let text: String
        if let by = Self.string(last, "by") {
            text =
                by == "user"
                ? "The user swiped the card away on \(evidence.device)."
                : "The \(by) dismissed the card on \(evidence.device)."
        } else if let ended {
            text =
                "The card on \(evidence.device) is dismissed: the relay had ended it, at "
                + "\(ended.at.rfc3339)."
        } else {
            text =
                "The card on \(evidence.device) is dismissed. The phone did not say whether by the "
                + "user."
        }
        return Suspect(
            "dismissed", text,
            speaksFor: ["\(evidence.device) reported so at \(last.recordedAt.rfc3339)."])
    }

    /// A cause if the device got another user: then the relay ended the former user's card. More
    /// users may have signed in since.
    var userChange: Suspect? {
        let upTo = isWithApple ? end : window.upperBound
        let facts = evidence.phone.filter { $0.recordedAt <= upTo }
        let ofCard = facts.lastIndex(where: isOfCard) ?? facts.startIndex
        return facts[ofCard...].lazy.filter { $0.kind == "device.user_changed" }
            .compactMap(userChange).first
    }

    private func userChange(_ change: NewFact) -> Suspect? {
        let ended = evidence.deliveries.first { $0.isEnd && $0.at >= change.recordedAt }
        // A push after that end went to another card.
        if isWithApple, let fate, let ended, fate.at > ended.at { return nil }
        // The change of user decides about waiting versions within the same second.
        let isDecidedThen =
            decision == .noRoute
            && evidence.deliveries.contains {
                $0.record.decision == .noRoute && $0.at >= change.recordedAt
                    && $0.at < change.recordedAt + .seconds(1)
            }
        let isOfChange = ended.map { $0.at < change.recordedAt + .minutes(1) } ?? false
        guard isDecidedThen || isOfChange else { return nil }
        return Suspect(
            "user_changed",
            "The user of \(evidence.device) changed, and the relay ended the card, which was for the "
                + "user before.",
            speaksFor: [
                "\(evidence.device) was registered for another user at "
                    + "\(change.recordedAt.rfc3339)."
            ] + (ended.map { [Self.text($0)] } ?? []))
    }

    /// True if the fact registers a token of the activity's card, with any card number.
    private func isOfCard(_ fact: NewFact) -> Bool {
        guard fact.kind == "token.registered", let token = Self.string(fact, "token") else {
            return false
        }
        let name = "activity:\(evidence.activity)"
        return token == name || token.hasPrefix("\(name)~")
    }

    var retiredToken: Suspect? {
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

    /// A cause if the relay dropped a token that may still be valid, after a push that Apple
    /// refused because the token belongs to another app or to the other environment. `retirement`
    /// is the fact of the drop.
    private func misplacement(_ retirement: NewFact) -> Suspect? {
        let refused = evidence.deliveries.last { entry in
            guard case .refused(400, _)? = entry.record.attempt?.answer else { return false }
            return entry.at <= retirement.recordedAt
        }
        guard let suspect = refused.flatMap(refusal),
            ["wrong_topic", "wrong_environment"].contains(suspect.code)
        else { return nil }
        return suspect
    }

    /// True if the fact says that a token was lost which this version needs.
    private func isLoss(_ fact: NewFact) -> Bool {
        guard ["token.retired", "token.deleted"].contains(fact.kind),
            let token = Self.string(fact, "token")
        else { return false }
        if token == "activity:\(evidence.activity)" { return true }
        let needsStart =
            evidence.asked.kind == .start || fateCode == WaitReason.startToken.name
        return needsStart && token.hasPrefix("start:")
    }

    func retiredAfter(_ fate: DeliveryEntry) -> Suspect? {
        let fact = evidence.phone.last {
            $0.kind == "token.retired" && $0.recordedAt > fate.at
        }
        guard let fact, let token = Self.string(fact, "token") else { return nil }
        let wasThere = evidence.phone.contains { report in
            report.kind == "card.reported" && report.recordedAt > fate.at
                && report.recordedAt <= fact.recordedAt
                && ["active", "stale"].contains(Self.string(report, "phase"))
        }
        return Suspect(
            "token_gone",
            wasThere
                ? "The card or the app went later: the phone had the card after the push."
                : "The card or the app may have been gone already: Apple reports a dead token late.",
            speaksFor: ["Apple called the token \(token) dead at \(fact.recordedAt.rfc3339)."])
    }

    /// A cause if the phone reported an older version after the push.
    func missed(_ fate: DeliveryEntry) -> Suspect? {
        let report = evidence.phone.last {
            $0.kind == "card.reported" && $0.recordedAt > fate.at
                && Self.number($0, "received_version") != nil
        }
        guard let report, Self.string(report, "misses_push") != nil,
            let version = Self.number(report, "received_version"), version < evidence.asked.version
        else { return nil }
        return Suspect(
            "phone_dropped_it", "The phone took the push and ignored it.",
            speaksFor: [
                "\(evidence.device) reported at \(report.recordedAt.rfc3339) that it has version "
                    + "\(version)."
            ])
    }

    /// For this long after a push, the phone's silence means nothing.
    private static let freshTime = Span.minutes(1)

    private func isFresh(_ entry: DeliveryEntry) -> Bool {
        evidence.now - entry.at < Self.freshTime
    }

    /// True if Apple accepted the version less than `freshTime` ago.
    var isFresh: Bool { isWithApple && fate.map { isFresh($0) } ?? false }

    func silence(_ fate: DeliveryEntry) -> Suspect? {
        guard !isFresh(fate) else { return nil }
        let times = [lastHeard(upTo: end)?.recordedAt, lastReportAt].compactMap(\.self)
        if let heard = times.max(), heard > fate.at { return nil }
        let last = times.max().map { "The last sign of life is of \($0.rfc3339)." }
        return Suspect(
            "phone_unreachable",
            "The phone may be off or offline: Apple keeps the newest push for it.",
            speaksFor: [last ?? "The phone has never been heard."])
    }
}

extension DeliveryEntry {
    /// True for a push that ended the card and that Apple accepted.
    fileprivate var isEnd: Bool {
        record.attempt?.event == .end && record.attempt?.answer == .accepted
    }
}
