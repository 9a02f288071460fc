package import TomboloJSON

/// An app's widgets on one device, or one of its controls there. The push has no content: the phone
/// fetches it afterwards. So many changes in a short time need only one push.
struct ReloadSurface: Sendable {
    enum Phase: Hashable, Sendable {
        /// No reload is needed.
        case idle
        case wanted
        /// A token of the budget is reserved, but not durable yet.
        case reserving
        /// The reserved token is durable, so the push may be sent.
        case granted
        case inFlight(PushID)
    }

    let device: DeviceSlot
    let name: TokenName
    var phase = Phase.idle
    /// True if another reload was asked for meanwhile.
    var isWantedAgain = false
    var bucket = TokenBucket()
    /// True if a token is reserved and not spent.
    var holdsToken = false
    var lastSend = Instant.distantPast
    /// The value of `lastSend` before the last push, in case that push fails.
    var sendBefore = Instant.distantPast
    var backOffUntil = Instant.distantPast
    var refusalsInRow = 0
    /// True while it waits for a place in its upstream.
    var isQueued = false
    /// True if its turn came before the token was durable: then it gets the next one.
    var hasLostTurn = false
    /// True if its device was removed.
    var isGone = false
    /// The token to which the push in flight goes.
    var token: PushToken?

    /// True if a reload waits to be sent.
    var isWaiting: Bool { !isGone && (phase == .wanted || phase == .granted) }

    /// True if the device's record must contain the surface.
    var isToBeRemembered: Bool { phase != .idle || bucket.fullAt != .distantPast }

    /// The numbers for the device's record.
    var parts: [Int64] {
        [phase == .idle ? 0 : 1, bucket.fullAt == .distantPast ? 0 : bucket.fullAt.nanoseconds]
    }
}

/// A request to reload widgets or a control.
package struct ReloadRequest: Hashable, Sendable {
    /// The kind of the control; nil: the widgets.
    package var control: String?
    package var app: String?
    package var audience: Audience

    /// Reads the body of a reload request. Throws `FieldErrors` with all faults.
    package init(reading view: JSONView, control: String?) throws(FieldErrors) {
        var reader = FieldReader(view)
        self.control = control
        app = reader.string("app")
        var ways: [Audience] = []
        if let device = reader.identifier("device") {
            ways.append(.devices([device]))
        }
        if let list = reader.value("devices") {
            ways.append(.devices(Start.devices(list, &reader)))
        }
        if let user = reader.string("user") {
            ways.append(.user(user))
            if user.isEmpty { reader.fail("user", "must not be empty") }
        }
        audience = ways.last ?? .none
        reader.requireOne(
            of: ["device", "devices", "user"], "give exactly one of device, devices or user")
        try reader.finish()
    }
}
