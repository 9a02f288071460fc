import TomboloCore

// Explains versions that were lost because the relay was killed: its last actions are not recorded.

extension Explainer {
    /// Facts are written within 2 s, and Apple answers a push within 30 s. If a version came less
    /// than this time before a killed relay's last fact, it is unknown whether it was sent.
    private static let blindTime = Span.seconds(32)

    /// The times between the version's arrival and its decision when the relay was killed. A
    /// `relay.started` fact without a `relay.stopped` before it shows that the earlier process was
    /// killed, at some time after its last fact.
    var kills: [Outage] {
        var found: [Outage] = []
        var hasStopped = false
        for fact in evidence.relay {
            if fact.kind == "relay.stopped" { hasStopped = true }
            guard fact.kind == "relay.started" else { continue }
            defer { hasStopped = false }
            guard !hasStopped, let seen = evidence.seenBefore[fact.recordedAt] else { continue }
            var kill = Outage(
                code: "relay_killed",
                text: "The relay was killed or crashed: it was last seen at \(seen.rfc3339), "
                    + "and started again at \(fact.recordedAt.rfc3339). What it did in its last "
                    + "2 seconds may not be on record.",
                from: seen, until: fact.recordedAt)
            guard isInTheWay(kill) else { continue }
            if isBlind(kill) { kill.text = "\(maybeGone) \(kill.text)" }
            found.append(kill)
        }
        return found
    }

    /// True if the relay was killed after the version came and before it was decided.
    private func isInTheWay(_ kill: Outage) -> Bool {
        let started = kill.until ?? kill.from
        guard started >= window.lowerBound else { return false }
        if let fate { return started <= fate.at }
        return evidence.moment.map { kill.from <= $0 } ?? true
    }

    private func isBlind(_ kill: Outage) -> Bool {
        evidence.asked.recordedAt >= kill.from - Self.blindTime
    }

    /// The last kill before which the version may have been sent unrecorded; nil if there is none.
    var blindKill: Outage? { kills.last(where: isBlind) }

    /// A sentence for a version that may have been sent before a kill.
    var maybeGone: String {
        let version = evidence.asked.version
        let what =
            evidence.asked.kind == .start ? "The start (version \(version))" : "Version \(version)"
        return "\(what) may have gone: its record was lost when the relay was killed."
    }
}
