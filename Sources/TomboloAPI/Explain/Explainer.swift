import TomboloCore

/// Explains from recorded facts why a device shows a version or does not. Pure: it changes nothing,
/// and the same evidence gives the same explanation.
package struct Explainer: Sendable {
    typealias Finding = Explanation.Finding
    typealias Suspect = Explanation.Suspect

    let evidence: Evidence
    /// The delivery that decided about the version; nil if none did.
    let fate: DeliveryEntry?

    /// Finds the delivery that decided about the version.
    package init(_ evidence: Evidence) {
        self.evidence = evidence
        fate = evidence.fate
    }

    /// The decision about the version; nil if the version still waits or nothing is recorded.
    var decision: EventDecision? { fate?.record.fate(of: evidence.asked.version) }

    /// True if Apple accepted a push with the version, or with a newer one that includes it.
    var isWithApple: Bool {
        guard let fate, fate.record.attempt?.answer == .accepted else { return false }
        return decision == .sent || decision == .merged
    }

    package var explanation: Explanation {
        let asked = evidence.asked
        var found = Explanation(
            activity: evidence.activity, recipient: evidence.recipient,
            version: asked.version, question: question, answer: "")
        found.trace = fate?.record.trace
        found.because = findings
        found.suspects = suspects
        found.answer = answer(found.suspects.first)
        if asked.kind == .end, let silentEnd, let at = silentEnd.at,
            at - asked.recordedAt < .seconds(1)
        {
            found.answer += " \(silentEnd.text)"
        }
        found.commands = commands(for: found.suspects.first?.code)
        return found
    }

    /// True if the recipient is a channel. Then phones report nothing.
    var isChannel: Bool { evidence.recipient.isChannel }

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
        if let shown { return suspect.map { "\(shown.text) \($0.text)" } ?? shown.text }
        if let received { return suspect.map { "\(received.text) \($0.text)" } ?? received.text }
        guard let suspect else {
            return isFresh
                ? "\(fateText) Apple took it a moment ago; nothing speaks against it." : fateText
        }
        let isFate = suspect.code == fateCode || suspect.text == fateText
        return isFate ? suspect.text : "\(fateText) \(suspect.text)"
    }

    // MARK: Findings

    private var findings: [Finding] {
        let asked = evidence.asked
        var found = [
            Finding(
                "recorded",
                "Version \(asked.version) (\(asked.kind.name)) was recorded at "
                    + "\(asked.recordedAt.rfc3339).",
                at: asked.recordedAt)
        ]
        found += failedAttempts
        if let moment = evidence.moment, fate.map({ $0.at > moment }) ?? true {
            found.append(
                Finding(
                    "undecided",
                    "By then, nothing was on record of what became of version \(asked.version)."))
        } else {
            found += heldFindings
            found.append(Finding(fateCode, fateText, at: fate?.at))
        }
        if let last = lastAccepted, last.id != fate?.id {
            found.append(
                Finding(
                    "acknowledged",
                    "The newest version that Apple took for \(evidence.device) is "
                        + "\(last.record.version), at \(last.at.rfc3339).", at: last.at))
        }
        found += [shown ?? received, unmade, silentEnd, producerRefused].compactMap { $0 }
        found += outages.map { Finding($0.code, $0.text, at: $0.from) } + alertPauses + lostAlerts
        if let thinning { found.append(thinning) }
        if !isChannel { found.append(lastSign) }
        // For a past moment, facts after it do not count.
        found.removeAll { $0.at.map { $0 > end } ?? false }
        return found.sorted { ($0.at ?? .distantFuture) < ($1.at ?? .distantFuture) }
    }

    /// The newest push that Apple accepted.
    var lastAccepted: DeliveryEntry? {
        evidence.deliveries.last { $0.record.attempt?.answer == .accepted && $0.at <= end }
    }

    /// A finding if the relay ended the activity because its producer was silent.
    private var silentEnd: Finding? {
        guard let fact = evidence.silentEnd, let after = Self.string(fact, "end_after") else {
            return nil
        }
        return Finding(
            "end_after",
            "The relay ended \(evidence.activity) by itself, at \(fact.recordedAt.rfc3339): its "
                + "producer had said nothing for \(after) (`end_after`).", at: fact.recordedAt)
    }

    /// A finding if the relay refused what the producer has sent after the version.
    var producerRefused: Finding? {
        guard let refusals = evidence.refusals else { return nil }
        let (often, at) = (refusals.count, refusals.last.rfc3339)
        return Finding(
            "producer_refused",
            (often == 1
                ? "Its producer was refused at \(at)"
                : "Its producer was refused \(often) times, last at \(at)")
                + ": \(refusals.cause.detail)",
            at: refusals.last)
    }

    /// Shorter waits are left out of an explanation.
    static let heldMin = Span.milliseconds(100)

    /// The reasons why the version waited, if a push decided about it. If the push carried several
    /// versions, the waiting time before this version came is cut off, because only older versions
    /// waited then.
    var held: [WaitSpan] {
        guard let fate else { return [] }
        var parts = fate.record.held
        guard (fate.record.decided?.count ?? 0) > 1 else { return parts }
        let own = fate.record.startedBefore(fate.at) - evidence.asked.recordedAt
        var others = parts.reduce(Int64(0)) { $0 + $1.span.nanoseconds } - max(0, own.nanoseconds)
        // The parts are in order of time.
        for index in parts.indices where others > 0 {
            let cut = min(others, parts[index].span.nanoseconds)
            parts[index].span.nanoseconds -= cut
            others -= cut
        }
        return parts
    }

    private var heldFindings: [Finding] {
        held.filter { $0.span >= Self.heldMin }.map { part in
            Finding(
                part.reason.name,
                "It waited \(Self.length(part.span)) for this: "
                    + (decision == .startWait ? part.reason.cause : part.reason.sentence))
        }
    }

    /// Findings for pushes of this version or a newer one that Apple did not accept.
    private var failedAttempts: [Finding] {
        evidence.deliveries.filter { entry in
            guard let answer = entry.record.attempt?.answer, answer != .accepted,
                entry.id != fate?.id, entry.at <= end
            else { return false }
            return entry.record.version >= evidence.asked.version
        }.suffix(5).map { entry in
            Finding(entry.result, Self.text(entry), at: entry.at)
        }
    }

    /// The last fact that the phone itself reported. Other facts were found out by the relay.
    func lastHeard(upTo end: Instant) -> NewFact? {
        evidence.phone.last {
            $0.recordedAt <= end
                && !Self.heardWithout.contains($0.kind)
        }
    }

    /// When the app's last report came. Facts have only those that say something new.
    var lastReportAt: Instant? {
        evidence.moment == nil ? evidence.registration?.lastReportAt : nil
    }

    private static let heardWithout: Set<String> = [
        "token.retired", "token.deleted", "alert.expired", "device.deleted", "clip.frames",
    ]

    private var lastSign: Finding {
        guard let sign = lastHeard(upTo: end) else {
            return Finding(
                "never_heard", "Nothing is on record that \(evidence.device) said by itself.")
        }
        return Finding(
            "last_sign",
            "The last sign of life of \(evidence.device) was at \(sign.recordedAt.rfc3339): "
                + "\(Self.text(sign)).", at: sign.recordedAt)
    }
}
