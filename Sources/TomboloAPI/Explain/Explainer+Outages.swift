import TomboloCore
import TomboloJSON

// What happened to the relay while a version waited.

extension Explainer {
    /// Something that lasted.
    struct Outage: Sendable {
        var code: String
        var text: String
        var from: Instant
        /// nil: it still lasts, or its end is not on record.
        var until: Instant?
    }

    /// From the moment at which the version came until it was decided.
    var window: ClosedRange<Instant> {
        let from = evidence.asked.recordedAt
        let until = max(from, fate?.at ?? evidence.moment ?? evidence.now)
        return from...until
    }

    /// Those that overlap with the time in which the version waited.
    var outages: [Outage] {
        (upstreamOutages + pauses + diskOutages + stops).filter { outage in
            outage.from <= window.upperBound
                && outage.until.map { $0 >= window.lowerBound } ?? true
        }
    }

    private func spans(
        from opening: String, until closing: String, _ isPart: (NewFact) -> Bool = { _ in true },
        same: (NewFact, NewFact) -> Bool = { _, _ in true }
    ) -> [(fact: NewFact, until: Instant?)] {
        var found: [(fact: NewFact, until: Instant?)] = []
        for fact in evidence.relay where isPart(fact) {
            if fact.kind == closing {
                for index in found.indices
                where found[index].until == nil && same(found[index].fact, fact) {
                    found[index].until = fact.recordedAt
                }
            } else if fact.kind == opening {
                // Another cause of the same outage.
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
            Self.string($0, "app") == evidence.app
        } same: {
            Self.string($0, "environment") == Self.string($1, "environment")
        }.map { fact, until in
            let cause = Self.string(fact, "text") ?? "pushes wait"
            return Outage(
                code: "upstream_closed",
                text: "No push of \(evidence.app) went\(Self.span(fact.recordedAt, until)): "
                    + "\(cause).",
                from: fact.recordedAt, until: until)
        }
    }

    private var pauses: [Outage] {
        spans(from: "pause.began", until: "pause.ended") { fact in
            guard Self.string(fact, "alerts_only") == nil else { return false }
            if let app = Self.string(fact, "app") { return app == evidence.app }
            if let type = Self.string(fact, "type") { return type == evidence.type }
            if let id = Self.string(fact, "activity") { return id == evidence.activity.rawValue }
            return true
        } same: {
            Self.string($0, "pause") == Self.string($1, "pause")
        }.map { fact, until in
            let name = Self.string(fact, "pause") ?? "a pause"
            let reason = Self.string(fact, "reason").map { " (\($0))" } ?? ""
            return Outage(
                code: "paused",
                text: "An operator held it back with \(name)\(reason)"
                    + "\(Self.span(fact.recordedAt, until)).",
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

    /// The relay did not run: after `relay.stopped`, or killed before a `relay.started`.
    private var stops: [Outage] {
        var found: [Outage] = []
        var stoppedAt: Instant?
        var before: Instant?
        for fact in evidence.relay {
            switch fact.kind {
            case "relay.stopped": stoppedAt = fact.recordedAt
            case "relay.started":
                if let stopped = stoppedAt {
                    found.append(
                        Outage(
                            code: "relay_stopped",
                            text: "The relay did not run\(Self.span(stopped, fact.recordedAt)).",
                            from: stopped, until: fact.recordedAt))
                } else if before != nil {
                    found.append(
                        Outage(
                            code: "relay_killed",
                            text: "The relay started anew at \(fact.recordedAt.rfc3339), and the "
                                + "one before it did not stop by itself. What that one did in "
                                + "its last 2 seconds may not be on record.",
                            from: fact.recordedAt - .seconds(5), until: fact.recordedAt))
                }
                stoppedAt = nil
            default: break
            }
            before = fact.recordedAt
        }
        return found
    }

    // MARK: Reading facts

    static func string(_ fact: NewFact, _ name: String) -> String? {
        // Facts of before, or damaged ones, say nothing.
        guard let view = (try? JSONDocument(fact.body))?.root[name] else { return nil }
        return view.string ?? (view.bool == true ? "true" : nil)
    }

    static func number(_ fact: NewFact, _ name: String) -> Int64? {
        (try? JSONDocument(fact.body))?.root[name]?.integer  // as above
    }

    /// ` from … until …`, ` since …`.
    static func span(_ from: Instant, _ until: Instant?) -> String {
        guard let until else { return " since \(from.rfc3339)" }
        return " from \(from.rfc3339) until \(until.rfc3339)"
    }

    static func length(_ span: Span) -> String {
        let rounded =
            span < .seconds(10)
            ? Span.milliseconds(span.nanoseconds / 1_000_000)
            : .seconds(span.nanoseconds / 1_000_000_000)
        return rounded.text
    }
}
