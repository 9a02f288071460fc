import TomboloCore
import TomboloHTTP

/// The requests of one lane: what is the same in every push is built once.
///
/// Header compression as Apple asks for (*Sending notification requests to APNs*): `:path` and
/// `authorization` never enter the peer's table, nor does what differs from push to push; the rest
/// does.
struct PushRequests {
    private static let devicePath = "/3/device/"

    private let scheme: String
    private let authority: String
    private let liveActivity: FieldsByPriority
    /// Pushes of one moment mostly expire at one moment.
    private var expiration: (seconds: Int64, text: String) = (0, "0")

    init(bundleID: String, endpoint: APNsEndpoint) {
        scheme = endpoint.isSecure ? "https" : "http"
        authority = endpoint.authority
        liveActivity = FieldsByPriority(bundleID: bundleID, type: .liveActivity)
    }

    /// The request that is `push`, signed with `authorization`.
    mutating func request(for push: Push, authorization: String) -> HTTP2Request {
        if push.expiration != expiration.seconds {
            expiration = (push.expiration, String(push.expiration))
        }
        var fields = liveActivity[push.priority]
        fields.append("authorization", authorization, indexing: .neverIndexed)
        fields.append("apns-expiration", expiration.text, indexing: .neverIndexed)
        fields.append("apns-id", push.apnsID, indexing: .neverIndexed)
        if let collapseID = push.collapseID {
            fields.append("apns-collapse-id", collapseID, indexing: .neverIndexed)
        }
        return HTTP2Request(
            method: "POST", scheme: scheme, authority: authority,
            path: Self.devicePath + push.token, fields: fields, body: push.payload)
    }
}

/// The fields that all pushes of a type and priority share, each spelled out once.
private struct FieldsByPriority {
    private let five: HTTPFields
    private let ten: HTTPFields

    init(bundleID: String, type: APNsPushType) {
        func fields(_ priority: String) -> HTTPFields {
            [
                "apns-topic": bundleID + type.topicSuffix, "apns-push-type": type.rawValue,
                "apns-priority": priority, "content-type": "application/json",
            ]
        }
        five = fields("5")
        ten = fields("10")
    }

    subscript(priority: UInt8) -> HTTPFields { priority == 5 ? five : ten }
}
