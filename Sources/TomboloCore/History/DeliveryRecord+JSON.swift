import TomboloJSON

// A delivery as the JSON of a fact. The recipient comes first, so that the log can find its facts.

extension DeliveryRecord {
    var body: [UInt8] {
        var writer = FactRecipient.body(about: recipient)
        if let card { writer.member("to", card) }
        writer.member("version", version)
        if let decidedFrom { writer.member("from", decidedFrom) }
        if goesOn { writer.member("goes_on", true) }
        if !superseded.isEmpty {
            writer.array("superseded", of: superseded) { $0.integer($1) }
        }
        if let attempt {
            writer.member("event", attempt.event.name)
            writer.member("route", attempt.route.name)
            writer.member("priority", Int64(attempt.priority))
            writer.member("bytes", Int64(attempt.bytes))
            writer.member("apns_id", attempt.apnsID.text)
            if case .refused(let status, _) = attempt.answer {
                writer.member("status", Int64(status))
            }
            if let reason = attempt.answer.reason { writer.member("reason", reason) }
            writer.member("took_us", attempt.took.nanoseconds / 1_000)
            if let alert = attempt.alert { writer.member("alert", alert) }
            if let purpose = attempt.purpose { writer.member("for", purpose.rawValue) }
            if let reserve = attempt.reserve {
                writer.member("kept", reserve.kept)
                writer.member("burst", reserve.burst)
            }
        }
        // An accepted push without a decision in its body has the decision `sent`.
        if let decision, attempt == nil || decision != .sent {
            writer.member("decision", decision.word)
        }
        if waited > .zero { writer.member("waited_ms", waited.nanoseconds / 1_000_000) }
        if !held.isEmpty {
            writer.object("held_ms") { writer in
                for part in held {
                    writer.member(part.reason.name, part.span.nanoseconds / 1_000_000)
                }
            }
        }
        if let trace { writer.member("trace_id", trace.text) }
        writer.endObject()
        return writer.bytes
    }

    /// Reads a fact. Returns nil if it is not a delivery, was erased, or is damaged.
    package init?(_ fact: NewFact) {
        // The cause of the damage is not needed, so the error is dropped.
        guard Self.kinds.contains(fact.kind), let view = try? JSONView.stored(fact.body),
            let recipient = Recipient(view),
            let version = view["version"]?.storedCount
        else { return nil }
        self.init(recipient: recipient, card: view["to"]?.storedCount, version: version)
        decidedFrom = view["from"]?.storedCount
        goesOn = view["goes_on"]?.bool ?? false
        superseded = view["superseded"]?.elements.compactMap(\.storedCount) ?? []
        if view["apns_id"] != nil {
            guard let attempt = Attempt(view, kind: fact.kind) else { return nil }
            self.attempt = attempt
        }
        decision =
            view["decision"]?.string.flatMap(EventDecision.init(word:))
            ?? (decidedFrom == nil ? nil : .sent)
        waited = Span.milliseconds(view["waited_ms"]?.storedCount ?? 0)
        trace = view["trace_id"]?.string.flatMap(TraceID.init(text:))
        guard let parts = view["held_ms"]?.members else { return }
        for entry in parts {
            guard let reason = WaitReason(name: entry.name), let span = entry.value.storedCount
            else {
                continue
            }
            held.append(WaitSpan(reason: reason, span: .milliseconds(span)))
        }
    }
}

extension DeliveryRecord.Attempt {
    fileprivate init?(_ view: JSONView, kind: String) {
        guard let event = view["event"]?.string.flatMap(Push.Event.init(name:)),
            let route = view["route"]?.string.flatMap(DeliveryView.Route.init(name:)),
            let id = view["apns_id"]?.string.flatMap(APNsID.init(text:))
        else { return nil }
        let reason = view["reason"]?.string ?? ""
        let answer: DeliveryRecord.Answer =
            switch kind {
            case "push.refused":
                .refused(status: Int(view["status"]?.storedCount ?? 0), reason: reason)
            case "push.not_sent": .notSent(reason: reason)
            case "push.unknown": .unknown(reason: reason)
            default: .accepted
            }
        self.init(
            event: event, route: route, apnsID: id,
            priority: UInt8(clamping: view["priority"]?.storedCount ?? 0),
            bytes: Int(view["bytes"]?.storedCount ?? 0), answer: answer,
            took: Span(nanoseconds: 1_000).times(view["took_us"]?.storedCount ?? 0),
            alert: view["alert"]?.storedCount,
            purpose: view["for"]?.string.flatMap(DeliveryRecord.Purpose.init(rawValue:)))
        if let kept = view["kept"]?.storedCount, let burst = view["burst"]?.storedCount {
            reserve = Reserve(kept: kept, burst: burst)
        }
    }
}
