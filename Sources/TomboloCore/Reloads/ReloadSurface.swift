package import TomboloJSON

/// What an app shows on one device outside of cards: its widgets there, or one control.
///
/// The push has no content: the phone then fetches it. So wishes in a burst need one push.
struct ReloadSurface: Sendable {
    enum Phase: Hashable, Sendable {
        /// Nothing is wanted.
        case idle
        case wanted
        /// The token of its budget is being written to the log.
        case reserving
        /// The push may be sent.
        case granted
        case inFlight(PushID)
    }

    let device: DeviceSlot
    let name: TokenName
    var phase = Phase.idle
    /// Another reload was wanted while one was in flight.
    var isWantedAgain = false
    var bucket = TokenBucket()
    /// A token is paid for and not spent.
    var holdsToken = false
    var lastSend = Instant.distantPast
    /// `lastSend` before the last push: an attempt that Apple refuses does not count as a send.
    var sendBefore = Instant.distantPast
    var backOffUntil = Instant.distantPast
    var refusalsInRow = 0
    /// It waits for a place at its upstream.
    var isQueued = false
    /// Its turn came before its spending was on record: it goes first once it is.
    var hasLostTurn = false
    /// Its device has been removed.
    var isGone = false
    /// The token of the push in flight.
    var token: PushToken?

    init(device: DeviceSlot, name: TokenName) {
        self.device = device
        self.name = name
    }

    /// Whether a wanted reload may be sent when no wait reason holds it.
    var isWaiting: Bool { !isGone && (phase == .wanted || phase == .granted) }

    /// Whether a restart needs to know of it.
    var isToBeRemembered: Bool { phase != .idle || bucket.fullAt != .distantPast }

    /// The parts in the device's record.
    var parts: [Int64] {
        [phase == .idle ? 0 : 1, bucket.fullAt == .distantPast ? 0 : bucket.fullAt.nanoseconds]
    }
}

/// A request to reload widgets or a control.
package struct ReloadRequest: Hashable, Sendable {
    /// The control's kind; nil means the widgets.
    package var control: String?
    package var app: String?
    package var audience: Audience

    /// Reads the body of a reload request; throws all faults in it.
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
        if ways.count != 1 { reader.fail("device", "give exactly one of device, devices or user") }
        try reader.finish()
    }
}
