import TomboloCore
import TomboloJSON

extension JSONWriter {
    /// Writes one push and its result. `status` and `reason` are Apple's, if Apple has answered.
    mutating func delivery(_ delivery: DeliveryView, to recipient: Recipient) {
        beginObject()
        member("id", delivery.id)
        member(recipient.member, recipient.name.rawValue)
        member("version", delivery.version)
        member("route", delivery.route.name)
        member("result", delivery.result.word)
        if let status = delivery.result.status { member("status", status) }
        optional("reason", delivery.result.reason)
        member("apns_id", delivery.apnsID.text)
        member("priority", delivery.priority)
        if delivery.result != nil {
            member("took_ms", max(0, delivery.took.nanoseconds / 1_000_000))
        }
        endObject()
    }
}

extension PushResult? {
    /// The word for the result: `in_flight` until Apple's answer is known, or known not to come.
    var word: String {
        switch self {
        case nil: "in_flight"
        case .accepted: "accepted"
        case .rejected: "rejected"
        case .notSent: "not_sent"
        case .unknown: "unknown"
        }
    }

    fileprivate var status: Int? {
        switch self {
        case .accepted: 200
        case .rejected(let status, _, _, _): status
        case nil, .notSent, .unknown: nil
        }
    }

    fileprivate var reason: String? {
        switch self {
        case nil, .accepted: nil
        case .rejected(_, let reason, _, _), .notSent(let reason), .unknown(let reason): reason
        }
    }
}
