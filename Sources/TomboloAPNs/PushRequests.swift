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

    /// A template, and the minting of the authorization that its requests carry.
    private struct Signed {
        let template: HTTP2RequestTemplate
        var generation: ProviderToken.Generation?
    }

    private var five: Signed
    private var ten: Signed
    /// Of all that goes elsewhere than to a card; made when the first goes.
    private var others: [Other: Signed] = [:]
    private let key: ProviderKey
    private let bundleID: String
    private let endpoint: APNsEndpoint
    /// Pushes of one moment mostly expire at one moment.
    private var lastExpiration: (seconds: Int64, text: String) = (0, "0")

    private struct Other: Hashable {
        var surface: Push.Surface
        var priority: UInt8
    }

    init(bundleID: String, endpoint: APNsEndpoint, key: ProviderKey) {
        self.key = key
        self.bundleID = bundleID
        self.endpoint = endpoint
        five = Signed(template: Self.template(.activity, 5, bundleID, endpoint))
        ten = Signed(template: Self.template(.activity, 10, bundleID, endpoint))
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

    /// The request that is `push`, signed with the key's `generation`, but for its body. It stands
    /// until the next one is asked for.
    ///
    /// By pointer: the push's strings are read where they are, without a count for each.
    func request(
        for push: UnsafePointer<Push>, generation: ProviderToken.Generation
    ) -> HTTP2RequestTemplate {
        if push.pointee.expiration != lastExpiration.seconds {
            lastExpiration = (push.pointee.expiration, String(push.pointee.expiration))
        }
        let isBroadcast = push.pointee.surface == .channel
        let request = signed(push.pointee.surface, push.pointee.priority, generation)
        if isBroadcast {
            request.begin(path: bundleID)
        } else {
            request.begin(path: push.pointee.token)
        }
        request.addShared()
        request.add(Self.expiration, lastExpiration.text)
        request.add(Self.id, push.pointee.apnsID)
        if isBroadcast {
            request.add(Self.channelID, push.pointee.token)
        } else if let collapseID = push.pointee.collapseID {
            request.add(Self.collapseID, collapseID)
        }
        return request
    }

    private func signed(
        _ surface: Push.Surface, _ priority: UInt8, _ generation: ProviderToken.Generation
    ) -> HTTP2RequestTemplate {
        if surface == .activity {
            return priority == 5 ? sign(&five, generation) : sign(&ten, generation)
        }
        let kind = Other(surface: surface, priority: priority)
        var other =
            others[kind]
            ?? Signed(template: Self.template(surface, priority, bundleID, endpoint))
        defer { others[kind] = other }
        return sign(&other, generation)
    }

    private func sign(
        _ request: inout Signed, _ generation: ProviderToken.Generation
    ) -> HTTP2RequestTemplate {
        if request.generation != generation {
            request.generation = generation
            request.template.share(Self.authorization, key.current().value)
        }
        return request.template
    }
}
