/// All that can happen to the core. Time is a parameter of `step`, never an input.
package enum Input: Sendable {
    case command(Command, Ticket)
    /// All of them or none.
    case atomic([Command], Ticket)
    case endMany(EndMany, Ticket)
    case device(DeviceKey, DeviceCommand, Ticket, by: DeviceAuthority = .operate)
    /// API keys, as the doors encode them, all in one batch; a nil value deletes.
    case keys([(number: Int64, value: [UInt8]?)], Ticket)
    /// A type of an app; `app` nil: the tenant's only one.
    case type(ActivityType, name: String, app: String?, TenantID, Ticket)
    /// A channel was made, or is no more. Without a ticket: one of the relay's own.
    case channel(ChannelCommand, Ticket?)
    /// Widgets or a control are to ask for what is new.
    case reload(ReloadRequest, TenantID, Ticket)
    /// What widgets show is another, or no more.
    case timeline(TimelineCommand, TenantID, Ticket)
    /// The newest state goes again where these were refused.
    case retry(DeadLetterQuery, Ticket)
    /// An operator holds something back, or lets it go.
    case pause(PauseCommand, TenantID, Ticket, by: AskingKey = .unknown)
    /// The input that comes next, with this ticket, is an operator's deed.
    case deed(Deed, Ticket)
    /// Memory forgets; then the log does.
    case erase(ErasureSubject, Ticket)
    /// The batch that `takeBatch` gave is durable.
    case committed(AppendReceipt)
    case pushEnded(PushOutcome)
    /// How many pushes a lane may have in flight from now on.
    case capacity(LaneNumber, Int)
    /// A lane whose pushes wait tries at once: its key or its configuration is another one.
    case probe(LaneNumber)
    /// Whether the log has room for events.
    case room(Bool)
    /// An activity that had left memory, as the log keeps it.
    case remembered(PlacedHead)
    /// The wall clock's lead over steady time (`RelayClock`); it counts when it is durable.
    case clock(lead: Span, isBehind: Bool = false)
    /// Nothing but time has passed.
    case tick

    /// Whether somebody asks, and may have to wait until the batch has room. What Apple, the disk
    /// and the machine say is taken at once.
    package var isRequest: Bool {
        switch self {
        case .committed, .pushEnded, .capacity, .probe, .room, .clock, .tick: false
        default: true
        }
    }

    /// Who waits for an answer to it; nil where nobody does, and for a deed, which goes with its
    /// input.
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

    /// Of what producers send in it.
    package var bodyBytes: Int {
        switch self {
        case .command(let command, _): command.body.count
        case .atomic(let commands, _): commands.reduce(0) { $0 + $1.body.count }
        case .timeline(.put(let request, _), _, _): request.timeline.bytes
        default: 0
        }
    }
}

/// Ends of every running activity that matches.
package struct EndMany: Sendable {
    package var tenant: TenantID
    package var type: String?
    package var user: String?
    package var end: End
    package var body: [UInt8]
    /// Who asks.
    package var key = AskingKey.unknown
    /// Activities that came later run on; nil: none did.
    package var through: ActivityNumber?

    /// Looked at in one step, among the core's places for activities.
    package var places = 0..<Int.max
    var slots: Range<ActivitySlot> { Slot(places.lowerBound)..<Slot(places.upperBound) }

    /// So many end in one step: others wait no longer for it than for a few requests.
    package static let pieceMax = 256
    /// And so many are looked at, those that do not match and their cards counted.
    package static let lookedAtMax = 4_096

    package init(tenant: TenantID, type: String?, user: String?, end: End, body: [UInt8]) {
        self.tenant = tenant
        self.type = type
        self.user = user
        self.end = end
        self.body = body
    }
}

/// What a step asks of the shell.
package struct Effects: Sendable {
    /// What was looked at by itself, and in its turn at an upstream: both are bounded.
    var (looks, turns) = (0, 0)
    package var answers: [(Ticket, Answer)] = []
    package var pushes: [Push] = []
    /// Lanes whose pool wants one more channel.
    package var channels: [LaneNumber] = []
    /// Lanes whose pushes wait, after each probe that failed too, or go again: for an operator.
    package var lanes: [LaneNotice] = []

    package init() {}
}

/// A lane's pushes wait for Apple, or do so no more.
package struct LaneNotice: Hashable, Sendable {
    package var lane: LaneNumber
    /// The last straw; nil: they go again.
    package var cause: PushResult?
    /// For how long Apple has said nothing, where that closed it.
    package var silence: UpstreamSilence?
}
