package import TomboloJSON

/// One way to what an app shows outside of cards: its widgets on a device, or one control there.
///
/// Its push has no content: the phone comes and asks. So wishes in bursts are one.
struct ReloadSurface: Sendable {
    enum Phase: Hashable, Sendable {
        /// Nothing is wanted.
        case idle
        case wanted
        /// The token of its budget is on its way into the log.
        case reserving
        /// It may go.
        case granted
        case inFlight(PushID)
    }

    let device: DeviceSlot
    let name: TokenName
    var phase = Phase.idle
    /// Another one was wanted while one was on its way.
    var isWantedAgain = false
    var bucket = TokenBucket()
    /// A token that is paid for and not spent.
    var holdsToken = false
    var lastSend = Instant.distantPast
    /// The same of the push before: an attempt that Apple refuses is no send.
    var sendBefore = Instant.distantPast
    var backOffUntil = Instant.distantPast
    var refusalsInRow = 0
    /// It waits for a place in its lane.
    var isQueued = false
    /// Its turn has come before what it spends was on record: it goes first when that is.
    var hasLostTurn = false
    /// Its device has gone.
    var isGone = false
    /// Of the push in flight.
    var token: PushToken?

    init(device: DeviceSlot, name: TokenName) {
        self.device = device
        self.name = name
    }

    /// Something is wanted that may go when nothing holds it.
    var isWaiting: Bool { !isGone && (phase == .wanted || phase == .granted) }

    /// What a restart needs to know.
    var isToBeRemembered: Bool { phase != .idle || bucket.fullAt != .distantPast }

    /// As the device's record keeps it.
    var parts: [Int64] {
        [phase == .idle ? 0 : 1, bucket.fullAt == .distantPast ? 0 : bucket.fullAt.nanoseconds]
    }
}

/// Who is to reload what.
package struct ReloadRequest: Hashable, Sendable {
    /// Nil: the widgets; else the control of this kind.
    package var control: String?
    package var app: String?
    package var audience: Audience

    /// Reads the body of a reload; throws every fault it finds.
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
