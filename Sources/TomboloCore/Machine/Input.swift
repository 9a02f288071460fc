/// All inputs of the core. Time is a parameter of `step`, not an input.
package enum Input: Sendable {
    case command(Command, Ticket)
    /// All commands or none.
    case atomic([Command], Ticket)
    case endMany(EndMany, Ticket)
    case device(DeviceKey, DeviceCommand, Ticket, by: DeviceAuthority = .operate)
    /// Encoded API keys, in one batch; a nil value deletes a key.
    case keys([(number: Int64, value: [UInt8]?)], Ticket)
    /// A type of an app; `app` nil: the tenant's only one.
    case type(ActivityType, name: String, app: String?, TenantID, Ticket)
    /// A change of a channel. Without a ticket: one of the relay's own.
    case channel(ChannelCommand, Ticket?)
    /// Reloads widgets or a control.
    case reload(ReloadRequest, TenantID, Ticket)
    /// Puts or deletes the content of widgets.
    case timeline(TimelineCommand, TenantID, Ticket)
    /// Sends the newest state where these pushes were refused.
    case retry(DeadLetterQuery, Ticket)
    /// Begins or ends an operator's pause.
    case pause(PauseCommand, TenantID, Ticket, by: AskingKey = .unknown)
    /// The next input with this ticket is an operator's deed.
    case deed(Deed, Ticket)
    /// Erases data in memory, before the log erases it.
    case erase(ErasureSubject, Ticket)
    /// The batch from `takeBatch` is durable.
    case committed(AppendReceipt)
    case pushEnded(PushOutcome)
    /// The number of pushes that an upstream may have in flight from now on.
    case capacity(UpstreamNumber, Int)
    /// An upstream with waiting pushes tries at once, because its key or configuration has changed.
    case probe(UpstreamNumber)
    /// True if the log has room for events.
    case room(Bool)
    /// A retired activity, read from the log.
    case remembered(PlacedHead)
    /// The wall clock's lead over monotonic time (`RelayClock`); in effect when it is durable.
    case clock(lead: Span, isBehind: Bool = false)
    /// Only time has passed.
    case tick

    /// True for requests, which may have to wait until the batch has room. Inputs from Apple, the
    /// disk and the machine are applied at once.
    package var isRequest: Bool {
        switch self {
        case .committed, .pushEnded, .capacity, .probe, .room, .clock, .tick: false
        default: true
        }
    }

    /// The ticket that waits for an answer; nil if there is none, and for a deed, whose ticket
    /// belongs to its input.
    package var ticket: Ticket? {
        switch self {
        case .command(_, let ticket), .atomic(_, let ticket), .endMany(_, let ticket),
            .device(_, _, let ticket, _), .keys(_, let ticket), .type(_, _, _, _, let ticket),
            .reload(_, _, let ticket), .timeline(_, _, let ticket), .retry(_, let ticket),
            .pause(_, _, let ticket, _), .erase(_, let ticket):
            ticket
        case .channel(_, let ticket): ticket
        default: nil
        }
    }

    /// Bytes of the producers' bodies in it.
    package var bodyBytes: Int {
        switch self {
        case .command(let command, _): command.body.count
        case .atomic(let commands, _): commands.reduce(0) { $0 + $1.body.count }
        case .timeline(.put(let request, _), _, _): request.timeline.bytes
        default: 0
        }
    }
}

/// Ends all running activities that match.
package struct EndMany: Sendable {
    package var tenant: TenantID
    package var type: String?
    package var user: String?
    package var end: End
    package var body: [UInt8]
    /// The request's key.
    package var key = AskingKey.unknown
    /// Activities with higher numbers are not ended; nil: no limit.
    package var through: ActivityNumber?

    /// The activity slots to examine in one step.
    package var places = 0..<Int.max
    var slots: Range<ActivitySlot> { Slot(places.lowerBound)..<Slot(places.upperBound) }

    /// Most activities that end in one step, so that other requests do not wait long.
    package static let pieceMax = 256
    /// Most activities and cards that are examined in one step, including those that do not match.
    package static let lookedAtMax = 4_096

    package init(tenant: TenantID, type: String?, user: String?, end: End, body: [UInt8]) {
        self.tenant = tenant
        self.type = type
        self.user = user
        self.end = end
        self.body = body
    }
}

/// The shell's tasks after a step.
package struct Effects: Sendable {
    /// Numbers of evaluations on their own and in turn at an upstream; both are bounded.
    var (looks, turns) = (0, 0)
    package var answers: [(Ticket, Answer)] = []
    package var pushes: [Push] = []
    /// Upstreams whose pools want one more channel.
    package var channels: [UpstreamNumber] = []
    /// Upstreams whose pushes begin to wait, wait longer after a failed probe, or continue.
    package var upstreams: [UpstreamNotice] = []

    package init() {}
}

/// A notice that an upstream's pushes wait for Apple, or do not wait any more.
package struct UpstreamNotice: Hashable, Sendable {
    package var upstream: UpstreamNumber
    /// The last failure; nil: pushes are sent again.
    package var cause: PushResult?
    /// How long Apple has been silent, if that closed the upstream.
    package var silence: UpstreamSilence?
}
