/// A token with its upstream: values are unique within one app and environment.
struct TokenPlace: Hashable, Sendable {
    var upstream: UpstreamNumber
    var value: PushToken
}
