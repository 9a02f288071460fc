package import TomboloCore
package import TomboloJSON

/// One entry of the delivery history, as answers show it.
package struct DeliveryEntry: Sendable {
    /// The entry's place among the facts of the tenant.
    package var number: Int64
    /// When Apple answered, or when the relay decided.
    package var at: Instant
    /// Nil if the activity's name is no longer known.
    package var activity: Identifier?
    package var record: DeliveryRecord

    /// Nil if the fact is not a delivery, was erased, or is damaged.
    package init?(_ fact: RecordedFact, activity: Identifier?) {
        guard let record = DeliveryRecord(fact.fact) else { return nil }
        number = fact.tenantSeq
        at = fact.fact.recordedAt
        self.activity = activity
        self.record = record
    }

    /// The id in answers. For a push it is made from its `apns-id`, else from the entry's number.
    package var id: String { record.attempt?.apnsID.deliveryID ?? "dlv_\(number)" }

    /// The result: Apple's answer to the push, or without a push the decision about the versions.
    package var result: String {
        record.attempt?.answer.result ?? record.decision?.action ?? "skipped"
    }

    /// The reason for the result: Apple's own word, or the relay's.
    package var reason: String? { record.attempt?.answer.reason ?? record.decision?.reason }

    /// The delivery to which the `id` of an answer refers.
    package enum Place: Hashable, Sendable {
        /// A place among the tenant's facts.
        case number(Int64)
        case push(APNsID)

        /// Nil if the text is not the id of a delivery.
        package init?(_ id: String) {
            guard id.hasPrefix("dlv_") else { return nil }
            let rest = id.dropFirst(4)
            if rest.utf8.count < 32 {
                guard let number = Int64(rest), number > 0, rest.utf8.first != 0x2b else {
                    return nil
                }
                self = .number(number)
            } else {
                guard rest.utf8.count == 32, let id = APNsID(text: rest) else { return nil }
                self = .push(id)
            }
        }
    }
}

extension DeliveryEntry: AnswerObject {
    package func write(membersTo writer: inout JSONWriter) {
        writer.member("id", id)
        writer.member("number", number)
        writer.member("at", at.rfc3339)
        writer.nullable("activity", activity?.rawValue)
        writer.member(record.recipient.member, record.recipient.name.rawValue)
        writer.member("version", record.version)
        writer.member("result", result)
        writer.optional("action", record.decision?.action)
        writer.optional("reason", reason)
        if record.attempt == nil { writer.optional("reason_text", record.decision?.reasonText) }
        if let decided = record.decided, decided.lowerBound < decided.upperBound {
            writer.array("merged") { writer in
                writer.integer(decided.lowerBound)
                writer.integer(decided.upperBound - 1)
            }
        }
        if record.goesOn { writer.member("goes_on", true) }
        writer.optional("trace_id", record.trace?.text)
        if record.waited > .zero {
            writer.member("waited_ms", record.waited.nanoseconds / 1_000_000)
        }
        if !record.held.isEmpty {
            writer.array("held") { writer in
                // The longest wait comes first, because it matters most to readers.
                for part in record.held.sorted(by: { $0.span > $1.span }) {
                    writer.object { writer in
                        writer.member("reason", part.reason.name)
                        // A start that was given up waits no more: write only the cause.
                        let text =
                            record.decision == .startWait
                            ? part.reason.cause : part.reason.sentence
                        writer.member("reason_text", text)
                        writer.member("ms", part.span.nanoseconds / 1_000_000)
                    }
                }
            }
        }
        if let attempt = record.attempt {
            writer.named("push") { $0.attempt(attempt, sentAt: at - attempt.took) }
        }
    }
}

extension JSONWriter {
    /// Writes one push and its answer. `status` and `reason` are Apple's, if it has answered.
    fileprivate mutating func attempt(_ attempt: DeliveryRecord.Attempt, sentAt: Instant) {
        beginObject()
        member("event", attempt.event.name)
        member("route", attempt.route.name)
        member("result", attempt.answer.result)
        if let status = attempt.answer.status { member("status", status) }
        optional("reason", attempt.answer.reason)
        member("apns_id", attempt.apnsID.text)
        member("priority", attempt.priority)
        member("bytes", attempt.bytes)
        if let alert = attempt.alert { member("alert", alert) }
        optional("purpose", attempt.purpose?.rawValue)
        if let reserve = attempt.reserve {
            name("reserve")
            beginObject()
            member("kept", reserve.kept)
            member("burst", reserve.burst)
            endObject()
        }
        member("sent_at", sentAt.rfc3339)
        member("took_ms", max(0, attempt.took.nanoseconds / 1_000_000))
        endObject()
    }
}

/// A page of the delivery history, newest first.
package struct DeliveryPage: Sendable {
    package var entries: [DeliveryEntry]
    /// The cursor of the next page; nil only at the end.
    package var next: Int64?
    /// Number of entries that the relay did not keep, within the time of this page, for all the
    /// tenant's activities.
    package var leftOut: Int64 = 0

    package init(entries: [DeliveryEntry], next: Int64?) {
        self.entries = entries
        self.next = next
    }

    /// Writes the page's members.
    package func write(membersTo writer: inout JSONWriter) {
        writer.array("deliveries", of: entries) { $1.write(to: &$0) }
        writer.nullable("next_cursor", next.map(String.init))
        if leftOut > 0 { writer.member("left_out", leftOut) }
    }
}
