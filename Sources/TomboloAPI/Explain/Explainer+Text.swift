import TomboloCore

// Writes entries of the history as sentences.

extension Explainer {
    /// One push and its answer.
    static func text(_ entry: DeliveryEntry, _ attempt: DeliveryRecord.Attempt) -> String {
        let way: String
        switch attempt.route {
        case .pushToStart: way = "push-to-start"
        case .updateToken: way = "the update token"
        case .channel: way = "the channel"
        }
        let sentAt = (entry.at - attempt.took).rfc3339
        let push =
            "The push (\(attempt.event.name), \(way), priority \(attempt.priority), "
            + "\(attempt.bytes) bytes, apns-id \(attempt.apnsID.text)) went at \(sentAt)"
        switch attempt.answer {
        case .accepted: return "\(push), and Apple took it after \(length(attempt.took))."
        case .refused(let status, let reason): return "\(push); Apple answered \(status) \(reason)."
        case .notSent(let reason): return "\(push) and did not reach Apple: \(reason)."
        case .unknown(let reason): return "\(push); whether Apple took it is not known: \(reason)."
        }
    }

    static func text(_ entry: DeliveryEntry) -> String {
        entry.record.attempt.map { text(entry, $0) } ?? entry.record.kind
    }

    /// An event on the phone, as a clause.
    static func text(_ fact: NewFact) -> String {
        switch fact.kind {
        case "token.registered":
            return "it registered the token \(string(fact, "token") ?? "")"
        case "token.deleted": return "it deleted the token \(string(fact, "token") ?? "")"
        case "card.reported":
            let phase = string(fact, "phase") ?? "unknown"
            let by = string(fact, "by").map { " by the \($0)" } ?? ""
            let received = number(fact, "received_version").map { ", with version \($0)" } ?? ""
            let drawn = number(fact, "drawn_version").map { ", version \($0) drawn" } ?? ""
            return "it reported its card as \(phase)\(by)\(received)\(drawn)"
        case "presence.covered", "presence.leaving", "presence.returning":
            return "its app's presence became \(string(fact, "state") ?? "unknown")"
        case "device.registered": return "it was registered"
        case "device.user_changed": return "it was registered for another user"
        case "device.deleted": return "it was deleted"
        default: return fact.kind
        }
    }
}
