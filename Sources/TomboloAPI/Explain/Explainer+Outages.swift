import TomboloCore
import TomboloJSON

// Outages of the relay while a version waited.

extension Explainer {
    /// A state of the relay that lasted for some time.
    struct Outage: Sendable {
        var code: String
        var text: String
        var from: Instant
        /// Nil: it still lasts, or its end is not recorded.
        var until: Instant?
        /// The pause's name, if the outage is a pause.
        var pause: String?
        /// True for a pause that holds only alerts and starts.
        var isOfAlerts = false

        func covers(_ moment: Instant) -> Bool {
            from <= moment && until.map { moment <= $0 } ?? true
        }
    }

    /// The time from the version's arrival to its decision.
    var window: ClosedRange<Instant> {
        let from = evidence.asked.recordedAt
        let until = max(from, fate?.at ?? evidence.moment ?? evidence.now)
        return from...until
    }

    /// The outages that overlap with the time during which the version waited.
    var outages: [Outage] {
        (upstreamOutages + pauses.filter(hasHeld) + diskOutages + stops).filter(isInWindow) + kills
    }

    func isInWindow(_ outage: Outage) -> Bool {
        outage.from <= window.upperBound && outage.until.map { $0 >= window.lowerBound } ?? true
    }

    /// The outages at the past moment of the question.
    var outagesThen: [Outage] {
        guard let moment = evidence.moment else { return [] }
        return outages.filter { $0.covers(moment) }
    }

    /// Outages that end with the relay's process, because a new process detects them again.
    private static let endsWithRelay: Set<String> = ["upstream.closed", "disk.full", "log.full"]

    func spans(
        from opening: String, until closing: String, _ isPart: (NewFact) -> Bool = { _ in true },
        same: (NewFact, NewFact) -> Bool = { _, _ in true }
    ) -> [(fact: NewFact, until: Instant?)] {
        var found: [(fact: NewFact, until: Instant?)] = []
        for fact in evidence.relay {
            if fact.kind == "relay.started", Self.endsWithRelay.contains(opening) {
                for index in found.indices where found[index].until == nil {
                    found[index].until = fact.recordedAt
                }
            }
            guard [opening, closing].contains(fact.kind), isPart(fact) else { continue }
            if fact.kind == closing {
                for index in found.indices
                where found[index].until == nil && same(found[index].fact, fact) {
                    found[index].until = fact.recordedAt
                }
            } else {
                // The same outage with another cause ends the first one.
                for index in found.indices
                where found[index].until == nil && same(found[index].fact, fact) {
                    found[index].until = fact.recordedAt
                }
                found.append((fact, nil))
            }
        }
        return found
    }

    private var upstreamOutages: [Outage] {
        spans(from: "upstream.closed", until: "upstream.open") {
            let environment = evidence.registration?.registration.environment?.name
            return Self.string($0, "app") == evidence.app
                && (environment == nil || Self.string($0, "environment") == environment)
        } same: {
            Self.string($0, "environment") == Self.string($1, "environment")
        }.map { fact, until in
            // Skip the app's name at the start of the line, because the sentence already has it.
            let line = Self.string(fact, "text") ?? "pushes wait"
            let cause =
                line.firstRange(of: "pushes wait: ").map { line[$0.upperBound...] } ?? line[...]
            return Outage(
                code: "upstream_closed",
                text: "Pushes of \(evidence.app) \(until == nil ? "have waited" : "waited")"
                    + "\(Self.span(fact.recordedAt, until)): "
                    + "\(cause).",
                from: fact.recordedAt, until: until)
        }
    }

    private var diskOutages: [Outage] {
        spans(from: "disk.full", until: "disk.has_room").map { fact, until in
            Outage(
                code: "disk_full",
                text: "The disk of the log was full\(Self.span(fact.recordedAt, until)).",
                from: fact.recordedAt, until: until)
        }
    }

    /// A cause if the relay accepted no events at the moment of the question. Then events of that
    /// time are not in the log.
    var refusedEvents: Suspect? {
        guard let moment = evidence.moment else { return nil }
        let full = spans(from: "log.full", until: "log.has_room").map { fact, until in
            Outage(
                code: "log_full",
                text: "The log had no room\(Self.span(fact.recordedAt, until)).",
                from: fact.recordedAt, until: until)
        }
        guard let outage = (diskOutages + full).last(where: { $0.covers(moment) }) else {
            return nil
        }
        return Suspect(
            outage.code,
            "\(outage.text) The relay refused events with 507: what was posted then is not in the "
                + "log.",
            speaksFor: ["The relay noted it at \(outage.from.rfc3339)."])
    }

    /// Times in which the relay did not run: from `relay.stopped` to the next `relay.started`.
    private var stops: [Outage] {
        var found: [Outage] = []
        var stoppedAt: Instant?
        for fact in evidence.relay {
            if fact.kind == "relay.stopped" { stoppedAt = fact.recordedAt }
            guard fact.kind == "relay.started", let stopped = stoppedAt else { continue }
            found.append(
                Outage(
                    code: "relay_stopped",
                    text: "The relay did not run\(Self.span(stopped, fact.recordedAt)).",
                    from: stopped, until: fact.recordedAt))
            stoppedAt = nil
        }
        return found
    }

    // MARK: Facts that are missing

    /// A finding if facts of the time when the version waited were not kept; nil if all were kept.
    var thinning: Finding? {
        let thinned = evidence.thinned.filter { fact in
            let from = Self.string(fact, "from").flatMap { Instant(rfc3339: $0) }
            return fact.recordedAt >= window.lowerBound
                && from ?? fact.recordedAt <= window.upperBound
        }
        guard let first = thinned.first, let last = thinned.last else { return nil }
        let count = thinned.reduce(0) { $0 + $1.leftOut() }
        let from = Self.string(first, "from").flatMap { Instant(rfc3339: $0) } ?? first.recordedAt
        return Finding(
            "history_thinned",
            "\(count == 1 ? "One detail was" : "\(count) details were") left out of the history"
                + "\(Self.span(from, last.recordedAt)), for this tenant had used up its part: what "
                + "is not on record may be one of them.", at: from)
    }

    // MARK: Reading facts

    static func string(_ fact: NewFact, _ name: String) -> String? {
        // Older facts lack this member, and damaged ones cannot be read.
        guard let view = (try? JSONDocument(fact.body))?.root[name] else { return nil }
        return view.string ?? (view.bool == true ? "true" : nil)
    }

    static func number(_ fact: NewFact, _ name: String) -> Int64? {
        (try? JSONDocument(fact.body))?.root[name]?.integer  // see `string`
    }

    /// ` from … until …`, or ` since …` if it still lasts.
    static func span(_ from: Instant, _ until: Instant?) -> String {
        guard let until else { return " since \(from.rfc3339)" }
        return " from \(from.rfc3339) until \(until.rfc3339)"
    }

    static func length(_ span: Span) -> String {
        guard span >= .milliseconds(1) else { return "less than 1ms" }
        let rounded =
            span < .seconds(10)
            ? Span.milliseconds(span.nanoseconds / 1_000_000)
            : .seconds(span.nanoseconds / 1_000_000_000)
        return rounded.roundedText
    }
}
