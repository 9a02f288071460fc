import TomboloCore
import TomboloHTTP

/// The requests of one lane: what is the same in every push is built once.
///
/// Header compression as Apple asks for (*Sending notification requests to APNs*): `:path` and
/// `authorization` never enter the peer's table, nor does what differs from push to push; the rest does.
struct PushRequests {
    private static let devicePath = "/3/device/"

    private let scheme: String
    private let authority: String
    private let topics: Topics
    /// Pushes of one moment mostly expire at one moment.
    private var expiration: (seconds: Int64, text: String) = (0, "0")

    init(bundleID: String, endpoint: APNsEndpoint) {
        scheme = endpoint.isSecure ? "https" : "http"
        authority = endpoint.authority
        topics = Topics(bundleID: bundleID)
    }

    /// The request that is `push`, signed with `authorization`.
    mutating func request(
        for push: Push, type: APNsPushType = .liveActivity, authorization: String
    ) -> HTTP2Request {
        if push.expiration != expiration.seconds {
            expiration = (push.expiration, String(push.expiration))
        }
        var fields: [HTTP2Request.Field] = [
            .init("authorization", authorization, .neverIndexed),
            .init("apns-topic", topics[type], .indexed),
            .init("apns-push-type", type.rawValue, .indexed),
            .init("apns-priority", push.priority == 5 ? "5" : "10", .indexed),
            .init("apns-expiration", expiration.text, .neverIndexed),
            .init("apns-id", push.apnsID, .neverIndexed),
            .init("content-type", "application/json", .indexed),
        ]
        if let collapseID = push.collapseID {
            fields.append(.init("apns-collapse-id", collapseID, .neverIndexed))
        }
        return HTTP2Request(
            method: "POST", scheme: scheme, authority: authority,
            path: Self.devicePath + push.token, fields: fields, body: push.payload)
    }
}

/// `apns-topic` by push type, each spelled out once.
private struct Topics {
    private let liveActivity: String
    private let widgets: String
    private let controls: String
    private let background: String

    init(bundleID: String) {
        liveActivity = bundleID + APNsPushType.liveActivity.topicSuffix
        widgets = bundleID + APNsPushType.widgets.topicSuffix
        controls = bundleID + APNsPushType.controls.topicSuffix
        background = bundleID + APNsPushType.background.topicSuffix
    }

    subscript(type: APNsPushType) -> String {
        switch type {
        case .liveActivity: liveActivity
        case .widgets: widgets
        case .controls: controls
        case .background: background
        }
    }
}
