/// All inputs of the core. Time is a parameter of `step`, not an input.
package enum Input: Sendable {
    case command(Command, Ticket)
    /// Accepts all commands or none.
    case atomic([Command], Ticket)
    case endMany(EndMany, Ticket)
    case device(DeviceKey, DeviceCommand, Ticket, by: DeviceAuthority = .operate)
    /// Stores encoded API keys in one batch; a nil value deletes a key.
    case keys([(number: Int64, value: [UInt8]?)], Ticket)
    /// Registers a type. If `app` is nil, it is the tenant's only app.
    case type(ActivityType, name: String, app: String?, TenantID, Ticket)
    /// A change of a channel. It has no ticket if the channel is the relay's own.
    case channel(ChannelCommand, Ticket?)
    /// Asks for reloads of widgets or of a control.
    case reload(ReloadRequest, TenantID, Ticket)
    /// Puts or deletes the content of widgets.
    case timeline(TimelineCommand, TenantID, Ticket)
    /// Retries the dead letters that match.
    case retry(DeadLetterQuery, Ticket)
    case pause(PauseCommand, TenantID, Ticket, by: AskingKey = .unknown)
    /// Describes the operator's action that the next input with this ticket carries out.
    case deed(Deed, Ticket)
    /// Erases data in memory. The log's data is erased afterwards.
    case erase(ErasureSubject, Ticket)
    /// The batch from `takeBatch` is durable.
    case committed(AppendReceipt)
    case pushEnded(PushOutcome)
    /// How many pushes an upstream may have in flight from now on.
    case capacity(UpstreamNumber, Int)
    /// An upstream whose pushes wait tries one now, because its key or configuration has changed.
    case probe(UpstreamNumber)
    /// Whether the disk has room for events.
    case room(Bool)
    /// An activity that had left memory and was read from the log.
    case remembered(PositionedHead)
    /// How far the wall clock is ahead of monotonic time (`RelayClock`). Sent when this is durable.
    case clock(lead: Span, isBehind: Bool = false)
    /// Only time has passed.
    case tick

    /// True for requests, which may have to wait until the batch has room. False for inputs from
    /// Apple, the disk and the machine, which are applied at once.
    package var isRequest: Bool {
        switch self {
        case .committed, .pushEnded, .capacity, .probe, .room, .clock, .tick: false
        default: true
        }
    }

    /// The ticket to answer; nil if there is none. Nil for `deed`, because its ticket belongs to
    /// the next input.
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

    /// The size of the producers' bodies in this input, in bytes.
    package var bodyBytes: Int {
        switch self {
        case .command(let command, _): command.body.count
        case .atomic(let commands, _): commands.reduce(0) { $0 + $1.body.count }
        case .timeline(.put(let request, _), _, _): request.timeline.bytes
        default: 0
        }
    }
}

/// Ends all running activities of a tenant that match.
package struct EndMany: Sendable {
    package var tenant: TenantID
    package var type: String?
    package var user: String?
    package var end: End
    package var body: [UInt8]
    package var key = AskingKey.unknown
    /// Only activities up to this number are ended; nil: all.
    package var through: ActivityNumber?

    /// The slots of activities to examine in one step.
    package var places = 0..<Int.max
    var slots: Range<ActivitySlot> { Slot(places.lowerBound)..<Slot(places.upperBound) }

    /// Maximum number of activities that end in one step, so that other requests do not wait long.
    package static let pieceMax = 256
    /// Maximum number of activities and cards that one step examines, matching or not.
    package static let lookedAtMax = 4_096

    package init(tenant: TenantID, type: String?, user: String?, end: End, body: [UInt8]) {
        self.tenant = tenant
        self.type = type
        self.user = user
        self.end = end
        self.body = body
    }
}

/// What the shell must do after a step.
package struct Effects: Sendable {
    package internal(set) var budget = StepBudget()
    package var answers: [(Ticket, Answer)] = []
    package var pushes: [Push] = []
    /// Upstreams that need one more channel in their pools.
    package var channels: [UpstreamNumber] = []
    /// Upstreams whose pushes begin to wait, wait longer after a failed probe, or continue.
    package var upstreams: [UpstreamNotice] = []

    package init() {}
}

/// Says that an upstream's pushes must wait for Apple, or need not any more.
package struct UpstreamNotice: Hashable, Sendable {
    package var upstream: UpstreamNumber
    /// The last failure; nil if pushes are sent again.
    package var cause: PushResult?
    /// How long Apple has not answered, if that has closed the upstream.
    package var silence: UpstreamSilence?
}
