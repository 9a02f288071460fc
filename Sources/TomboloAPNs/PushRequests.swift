import TomboloCore
import TomboloHTTP

/// The requests of one lane: what is the same in every push is laid out once.
///
/// Header compression as Apple asks for (*Sending notification requests to APNs*): `:path` and
/// `authorization` never enter the peer's table; of what differs from push to push the name does,
/// with a connection's first push, and the value does not; the rest does.
final class PushRequests {
    private static let devicePath = "/3/device/"
    private static let broadcastPath = "/4/broadcasts/apps/"
    private static let authorization = 0
    private static let expiration = 1
    private static let id = 2
    private static let collapseID = 3
    /// In the place of `collapseID`, of a broadcast.
    private static let channelID = 3

    private let five: HTTP2RequestTemplate
    private let ten: HTTP2RequestTemplate
    /// Of all that goes elsewhere than to a card; made when the first goes.
    private var others: [Other: HTTP2RequestTemplate] = [:]
    private let bundleID: String
    private let endpoint: APNsEndpoint
    /// Pushes of one moment mostly expire at one moment.
    private var lastExpiration: (seconds: Int64, text: String) = (0, "0")

    private struct Other: Hashable {
        var surface: Push.Surface
        var priority: UInt8
    }

    init(bundleID: String, endpoint: APNsEndpoint) {
        self.bundleID = bundleID
        self.endpoint = endpoint
        five = Self.template(.activity, 5, bundleID, endpoint)
        ten = Self.template(.activity, 10, bundleID, endpoint)
    }

    private static func template(
        _ surface: Push.Surface, _ priority: UInt8, _ bundleID: String, _ endpoint: APNsEndpoint
    ) -> HTTP2RequestTemplate {
        let isBroadcast = surface == .channel
        let type = APNsPushType(surface)
        var fields: HTTPFields = [
            "apns-push-type": type.rawValue, "apns-priority": String(priority),
            "content-type": "application/json",
        ]
        // A broadcast has its app in the path, and no topic.
        if !isBroadcast { fields.append("apns-topic", bundleID + type.topicSuffix) }
        return HTTP2RequestTemplate(
            method: "POST", scheme: endpoint.isSecure ? "https" : "http",
            authority: endpoint.authority, pathPrefix: isBroadcast ? broadcastPath : devicePath,
            fields: fields,
            varying: [
                ("authorization", .neverIndexed), ("apns-expiration", .nameIndexed),
                (isBroadcast ? "apns-request-id" : "apns-id", .nameIndexed),
                (isBroadcast ? "apns-channel-id" : "apns-collapse-id", .nameIndexed),
            ], keeping: .failures)
    }

    private func other(_ surface: Push.Surface, _ priority: UInt8) -> HTTP2RequestTemplate {
        let key = Other(surface: surface, priority: priority)
        if let known = others[key] { return known }
        let made = Self.template(surface, priority, bundleID, endpoint)
        others[key] = made
        return made
    }

    /// The request that is `push`, signed with `authorization`, but for its body. It stands until
    /// the next one is asked for.
    func request(
        for push: borrowing Push, authorization: String
    ) -> HTTP2RequestTemplate {
        if push.expiration != lastExpiration.seconds {
            lastExpiration = (push.expiration, String(push.expiration))
        }
        let isBroadcast = push.surface == .channel
        let request =
            push.surface == .activity
            ? (push.priority == 5 ? five : ten) : other(push.surface, push.priority)
        request.begin(path: isBroadcast ? bundleID : push.token)
        request.share(Self.authorization, authorization)
        request.add(Self.expiration, lastExpiration.text)
        request.add(Self.id, push.apnsID)
        if isBroadcast {
            request.add(Self.channelID, push.token)
        } else if let collapseID = push.collapseID {
            request.add(Self.collapseID, collapseID)
        }
        return request
    }
}
