import TomboloCore
import TomboloHTTP

/// The requests of one lane: what is the same in every push is laid out once.
///
/// Header compression as Apple asks for (*Sending notification requests to APNs*): `:path` and
/// `authorization` never enter the peer's table; of what differs from push to push the name does,
/// with a connection's first push, and the value does not; the rest does.
final class PushRequests {
    private static let devicePath = "/3/device/"
    private static let authorization = 0
    private static let expiration = 1
    private static let id = 2
    private static let collapseID = 3

    private let five: HTTP2RequestTemplate
    private let ten: HTTP2RequestTemplate
    /// Pushes of one moment mostly expire at one moment.
    private var lastExpiration: (seconds: Int64, text: String) = (0, "0")
    private let key: ProviderKey
    /// Which authorization the templates have.
    private var authorized: ProviderToken.Generation?

    init(bundleID: String, endpoint: APNsEndpoint, key: ProviderKey) {
        self.key = key

        func template(priority: String) -> HTTP2RequestTemplate {
            let type = APNsPushType.liveActivity
            return HTTP2RequestTemplate(
                method: "POST", scheme: endpoint.isSecure ? "https" : "http",
                authority: endpoint.authority, pathPrefix: Self.devicePath,
                fields: [
                    "apns-topic": bundleID + type.topicSuffix, "apns-push-type": type.rawValue,
                    "apns-priority": priority, "content-type": "application/json",
                ],
                varying: [
                    ("authorization", .neverIndexed), ("apns-expiration", .nameIndexed),
                    ("apns-id", .nameIndexed), ("apns-collapse-id", .nameIndexed),
                ], keeping: .failures)
        }
        five = template(priority: "5")
        ten = template(priority: "10")
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
        if authorized != generation {
            authorized = generation
            let authorization = key.current()
            for template in [five, ten] {
                template.share(Self.authorization, authorization.value)
            }
        }
        let request = push.pointee.priority == 5 ? five : ten
        request.begin(path: push.pointee.token)
        request.addShared()
        request.add(Self.expiration, lastExpiration.text)
        request.add(Self.id, push.pointee.apnsID)
        if let collapseID = push.pointee.collapseID { request.add(Self.collapseID, collapseID) }
        return request
    }
}
