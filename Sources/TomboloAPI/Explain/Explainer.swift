import TomboloCore
import TomboloJSON

/// Finds out why a device shows a version, or does not, from what is on record.
///
/// It decides nothing about pushes and asks nobody: the same evidence gives the same explanation.
package struct Explainer: Sendable {
    typealias Finding = Explanation.Finding
    typealias Suspect = Explanation.Suspect

    let evidence: Evidence
    /// The line of the history that decided the version; nil where none did.
    let fate: DeliveryEntry?

    /// Looks for the delivery that decided the version.
    package init(_ evidence: Evidence) {
        self.evidence = evidence
        fate = evidence.fate
    }

    /// What became of the version; nil while it waits, or where nothing is on record.
    var decision: EventDecision? { fate?.record.fate(of: evidence.asked.version) }

    /// Whether Apple has taken a push with the version, or with a newer one that it went into.
    var isWithApple: Bool {
        guard let fate, fate.record.attempt?.answer == .accepted else { return false }
        return decision == .sent || decision == .merged
    }

    package var explanation: Explanation {
        let (asked, device) = (evidence.asked, evidence.device)
        var found = Explanation(
            activity: evidence.activity, device: device, version: asked.version,
            question: question, answer: "")
        found.trace = fate?.record.trace
        found.because = findings
        found.suspects = suspects
        found.answer = answer(found.suspects.first)
        found.commands = commands(for: found.suspects.first?.code)
        return found
    }

    /// Whether the device is a channel: phones say nothing about it.
    var isChannel: Bool { evidence.destination?.isChannel == true }

    private var question: String {
        let (activity, device) = (evidence.activity, evidence.device)
        if isChannel {
            return
                "Why do the phones on the channel \(device) not show version "
                + "\(evidence.asked.version) of \(activity)?"
        }
        if let moment = evidence.moment {
            return "Why did \(device) not show what \(activity) said at \(moment.rfc3339)?"
        }
        return "Why does \(device) not show version \(evidence.asked.version) of \(activity)?"
    }

    private func answer(_ suspect: Suspect?) -> String {
        if let shown { return shown.text }
        guard let suspect else { return fateText }
        let isFate = suspect.code == fateCode || suspect.text == fateText
        return isFate ? suspect.text : "\(fateText) \(suspect.text)"
    }

    // MARK: What is known

    private var findings: [Finding] {
        let asked = evidence.asked
        var found = [
            Finding(
                "recorded",
                "Version \(asked.version) (\(asked.kind.name)) was recorded at "
                    + "\(asked.recordedAt.rfc3339).",
                at: asked.recordedAt)
        ]
        found += heldFindings
        found += failedAttempts
        found.append(Finding(fateCode, fateText, at: fate?.at))
        if let last = lastAccepted, last.id != fate?.id {
            found.append(
                Finding(
                    "acknowledged",
                    "The newest version that Apple took for \(evidence.device) is "
                        + "\(last.record.version), at \(last.at.rfc3339).", at: last.at))
        }
        if let shown { found.append(shown) }
        found += outages.map { Finding($0.code, $0.text, at: $0.from) }
        if let thinning { found.append(thinning) }
        if !isChannel { found.append(lastSign) }
        return found.sorted { ($0.at ?? .distantFuture) < ($1.at ?? .distantFuture) }
    }

    /// The newest push with a state that Apple took.
    var lastAccepted: DeliveryEntry? {
        evidence.deliveries.last { $0.record.attempt?.answer == .accepted }
    }

    /// What held a version for less than this is not worth a line.
    static let heldMin = Span.milliseconds(100)

    private var heldFindings: [Finding] {
        (fate?.record.held ?? []).filter { $0.span >= Self.heldMin }.map { part in
            Finding(
                part.hold.name,
                "It waited \(Self.length(part.span)) for this: \(part.hold.sentence)")
        }
    }

    /// Pushes with the version, or a newer one, that Apple did not take.
    private var failedAttempts: [Finding] {
        evidence.deliveries.filter { entry in
            guard let answer = entry.record.attempt?.answer, answer != .accepted,
                entry.id != fate?.id
            else { return false }
            return entry.record.version >= evidence.asked.version
        }.suffix(5).map { entry in
            Finding(entry.result, Self.text(entry), at: entry.at)
        }
    }

    /// The phone's own word that it shows the version, or a newer one.
    var shown: Finding? {
        guard dismissal == nil else { return nil }
        let report = evidence.phone.last { fact in
            // What it showed after the moment that is asked about is no answer where the push
            // came late.
            guard let moment = evidence.moment, fact.recordedAt > moment,
                fate.map({ $0.at > moment }) ?? true
            else { return isShowing(fact) }
            return false
        }
        guard let report, let version = Self.number(report, "shown_version"),
            version >= evidence.asked.version
        else { return nil }
        return Finding(
            "shown",
            "\(evidence.device) reported at \(report.recordedAt.rfc3339) that it shows version "
                + "\(version).", at: report.recordedAt)
    }

    private func isShowing(_ fact: NewFact) -> Bool {
        fact.kind == "card.reported" && Self.number(fact, "shown_version") ?? 0 > 0
    }

    /// The last that came from the phone itself: of the rest the relay found out without it.
    func lastHeard(upTo end: Instant) -> NewFact? {
        evidence.phone.last {
            $0.recordedAt <= end
                && !Self.heardWithout.contains($0.kind)
        }
    }

    private static let heardWithout: Set<String> = [
        "token.retired", "token.deleted", "alert.expired", "device.deleted", "clip.frames",
    ]

    private var lastSign: Finding {
        guard let sign = lastHeard(upTo: evidence.now) else {
            return Finding(
                "never_heard", "Nothing is on record that \(evidence.device) said by itself.")
        }
        return Finding(
            "last_sign",
            "The last sign of life of \(evidence.device) was at \(sign.recordedAt.rfc3339): "
                + "\(Self.text(sign)).", at: sign.recordedAt)
    }

    // MARK: What became of it

    var fateCode: String {
        guard let fate, let decision else { return waitingCode }
        switch decision {
        case .sent, .merged:
            // A renewed card takes what waited at the one before it.
            guard fate.record.attempt != nil else { return "merged" }
            return decision == .merged ? "merged" : "accepted"
        case .unchanged where evidence.asked.kind == .play: return "clip"
        default: return decision.reason ?? decision.action
        }
    }

    /// Whether nothing goes to the card any more.
    private var hasNoCard: Bool {
        ["gone", "ended", "lapsed"].contains(evidence.destination?.phase)
    }

    private var waitingCode: String {
        if let waiting = evidence.destination?.waiting, case .deferred(_, let hold) = waiting {
            return hold.name
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
        let push = fate.record.attempt.map { Self.text(fate, $0) } ?? ""
        switch decision {
        case .sent: return "Version \(version) went to \(evidence.device). \(push)"
        case .merged where fate.record.attempt == nil:
            return "Version \(version) went into the card that took the place of the old one."
        case .merged:
            return "Version \(version) was merged into version \(fate.record.version). \(push)"
        case .refused: return "Apple refused the push with version \(version). \(push)"
        case .expired:
            return "Version \(version) never went to \(evidence.device): its card was over."
        case .unchanged where evidence.asked.kind == .play:
            return
                "Version \(version) is a clip, and had no push of its own: its frames are counted by "
                + "the minute (`clip.frames` in `tombolo log ls --kind fact`)."
        case .unchanged, .superseded, .annihilated, .noRoute, .onChannel:
            return "Version \(version) was not sent to \(evidence.device). "
                + (decision.reasonText ?? "")
        }
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
        if let cause = destination.waitingText {
            let next = destination.waiting?.until
            let until = next.map { " The next try is at \($0.rfc3339)." } ?? ""
            return "Version \(version) still waits. \(cause)\(until)"
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
}
