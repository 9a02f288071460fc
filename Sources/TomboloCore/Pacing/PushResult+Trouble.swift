extension PushResult {
    /// Apple's reasons that mean: the topic or the environment does not match the token.
    private static let aboutTopic: Set<String> = [
        "BadTopic", "MissingTopic", "TopicDisallowed", "DeviceTokenNotForTopic", "BadDeviceToken",
    ]

    /// Why the result closes an upstream, as a sentence without its full stop.
    ///
    /// - Parameter silence: how long Apple did not answer, if that has closed it.
    package func trouble(_ silence: UpstreamSilence?) -> String {
        if let silence {
            let pushes = silence.pushes == 1 ? "the last push" : "\(silence.pushes) pushes in a row"
            return
                "Apple does not answer: \(pushes) got no answer, and nothing came for "
                + Span.seconds(silence.span.nanoseconds / 1_000_000_000).roundedText
        }
        return switch self {
        case .accepted: "nothing is wrong"
        case .rejected(_, "ExpiredProviderToken", _, _):
            "Apple calls a new provider token expired: this machine's clock is wrong"
        case .rejected(400, let reason, .connection, _) where Self.aboutTopic.contains(reason):
            "Apple answers 400 \(reason) to phone after phone: the app's id, which is the topic, or "
                + "its environment is wrong"
        case .rejected(let status, let reason, _, _): "Apple answers \(status) \(reason)"
        case .notSent(let reason), .unknown(let reason): reason
        }
    }
}
