import TomboloCore
import TomboloHTTP

/// Makes the requests of one upstream. Parts that are the same in every push are laid out once.
///
/// HPACK follows Apple's advice (*Sending notification requests to APNs*). `:path` and
/// `authorization` never enter the peer's table. Constant fields do. A varying field enters with a
/// connection's first push, so that later pushes can refer to its name.
final class PushRequests {
    private static let devicePath = "/3/device/"
    private static let broadcastPath = "/4/broadcasts/apps/"
    private static let authorization = 0
    private static let expiration = 1
    private static let id = 2
    private static let collapseID = 3
    /// Index of the field that replaces `collapseID` in a broadcast.
    private static let channelID = 3

    /// A template, and the generation of its provider token.
    private struct Signed {
        let template: HTTP2RequestTemplate
        var generation: ProviderToken.Generation?
    }

    private var five: Signed
    private var ten: Signed
    /// Templates for other pushes than those to cards. Each is made when its first push comes.
    private var others: [Other: Signed] = [:]
    private let key: ProviderKey
    private let bundleID: String
    private let endpoint: APNsEndpoint
    /// The last expiration as text. It is kept because the next push mostly has the same one.
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
        // A broadcast names its app in the path, so it has no topic.
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

    /// The request for `push` without its body, with the provider token of `generation`. Valid
    /// until the next call. The push is passed by pointer, so that its strings are not retained.
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
