/// A token's place: values are one app's in one environment.
struct TokenPlace: Hashable, Sendable {
    var lane: LaneNumber
    var value: PushToken
}
