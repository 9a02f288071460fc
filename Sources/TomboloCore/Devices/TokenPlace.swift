/// A token with its upstream. Token values are unique within one app and environment only.
struct TokenPlace: Hashable, Sendable {
    var upstream: UpstreamNumber
    var value: PushToken
}
