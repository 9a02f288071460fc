import TomboloCore

// Pauses by operators, and whether they held the version.

extension Explainer {
    /// All pauses that apply to the activity, even if they did not hold the version.
    var pauses: [Outage] {
        spans(from: "pause.began", until: "pause.ended") { fact in
            if let app = Self.string(fact, "app") { return app == evidence.app }
            if let type = Self.string(fact, "type") { return type == evidence.type }
            if let id = Self.string(fact, "activity") { return id == evidence.activity.rawValue }
            return true
        } same: {
            Self.string($0, "pause") == Self.string($1, "pause")
        }.map { fact, until in
            let name = Self.string(fact, "pause") ?? "a pause"
            let reason = Self.string(fact, "reason").map { " (\($0))" } ?? ""
            let key = Self.string(fact, "by").flatMap { $0 == "unknown" ? nil : $0 }
            let who = "An operator" + (key.map { " (key \($0))" } ?? "")
            let isOfAlerts = Self.string(fact, "alerts_only") != nil
            let what = isOfAlerts ? "alerts and starts" : "it"
            return Outage(
                code: "paused",
                text: "\(who) held \(what) back with \(name)\(reason)"
                    + "\(Self.span(fact.recordedAt, until)).",
                from: fact.recordedAt, until: until, pause: Self.string(fact, "pause"),
                isOfAlerts: isOfAlerts)
        }
    }

    /// True if a pause held this version, or if this pause probably held it at the asked moment.
    func hasHeld(_ pause: Outage) -> Bool {
        // The log does not say why a version waited before the relay's restart.
        let isRestarted = evidence.relay.contains {
            $0.kind == "relay.started" && window.contains($0.recordedAt)
        }
        let wasThere = evidence.moment.map(pause.covers) ?? false
        if let fate {
            let isHeld = fate.record.held.contains { $0.reason == .paused }
            return isHeld || isRestarted && wasThere && !pause.isOfAlerts
        }
        guard case .deferred(_, let reason)? = evidence.destination?.waiting else { return false }
        if reason == .paused { return true }
        return wasThere && pause.until != nil && !pause.isOfAlerts
    }

    /// A finding if the version's own alert expired: no push carried it.
    var lostAlerts: [Finding] {
        evidence.phone.filter {
            $0.kind == "alert.expired"
                && Self.number($0, "version") == evidence.asked.version
        }.map { fact in
            Finding(
                "alert_expired",
                "The alert was not sent: its time was over, a newer alert took its place, or no "
                    + "push could bring it before the end.",
                at: fact.recordedAt)
        }
    }

    /// Findings for pauses of alerts while the version waited: its alert may be missing.
    var alertPauses: [Finding] {
        pauses.filter { $0.isOfAlerts && isInWindow($0) && !hasHeld($0) }.map { pause in
            Finding(
                "alerts_paused", "\(pause.text) Updates went all the same, without their alerts.",
                at: pause.from)
        }
    }
}
