/// Limits of time and size.
package struct Limits: Hashable, Sendable {
    /// After this time without an answer, the outcome of a push counts as unknown (pacing rule 6).
    package var inFlightMax = Span.seconds(10)
    /// How long a start of unknown outcome waits for the phone's token or report.
    package var startDeadline = Span.minutes(2)
    /// The age at which the system ends a card (Apple, "Displaying live data with Live
    /// Activities").
    package static let systemCardLife = Span.hours(8)
    /// The same, but adjustable for a simulated system.
    package var cardLife = systemCardLife
    /// If a token dies this shortly before the card's end by age, the card counts as ended by age.
    package var lastOfCard = Span.minutes(10)
    /// A card is renewed this long before its end by age.
    package var renewBefore = Span.minutes(20)
    /// If a renewed card has no update token after this time, it is stranded: the old card stays.
    package var strandedAfter = Span.minutes(10)
    /// A start waits this long for a channel of the activity's own; then it uses an update token.
    package var channelWait = Span.seconds(5)
    /// If changes were sent at priority 5 only, the newest state is sent at 10 this long after the
    /// first of them (pacing rule 7).
    package var settle = Span.minutes(10)
    /// The state that Apple has accepted is repeated this long after the last change (pacing rule
    /// 15).
    package var echoAfter = Span.minutes(10)
    /// A request of the phone this soon after a push does not show whether the push has arrived.
    package var echoGrace = Span.seconds(10)
    /// A 410 with a time before the token's registration is not believed for this long after it.
    package var oldWord = Span.minutes(10)
    /// A closed upstream tries a push at least this often (Apple asks for 15 minutes after a 5xx).
    package var probeMax = Span.minutes(15)
    /// If the granted interval of frames is longer, only the poster frame of a clip is sent.
    package var frameIntervalMax = Span.seconds(20)
    /// The grant of a device is this many times that of an activity; 0: devices have no limit.
    package var deviceGrantFactor: Int64 = 4
    /// Checkpoints wait up to this long to be written together. A crash may lose as much.
    package var checkpointFlush = Span.seconds(2)
    /// A timeline's producer is asked within this time after a boundary, not all at the same time.
    package var timelineJitter = Span.minutes(10)
    /// How long an idempotency key is valid.
    package var idempotency = Span.hours(24)
    /// How long a token of an unknown activity is kept: it often comes before the activity's start.
    package var orphanToken = Span.hours(8)
    /// How long an ended activity stays in memory, for late readers.
    package var endedKept = Span.hours(24)
    /// Maximum number of events in the pending batch.
    package var pendingEventsMax = 10_000
    /// Maximum size of their bodies, so that large events do not fill the memory while the disk is
    /// slow.
    package var pendingBytesMax = 32 << 20
    /// Maximum number of running activities, which need at least a kilobyte each.
    package var runningMax = 1_000_000
    package var runningPerTenantMax = 500_000
    /// Maximum number of ended activities in memory. Above it, the oldest leave early.
    package var endedMax = 200_000
    /// Maximum number of cards of ended activities in memory. Above it, the oldest activities leave
    /// early, if nothing waits for their cards.
    package var overMax = 200_000
    /// The same for a device, when it gets another card.
    package var overPerDeviceMax = 64
    /// How many destinations the starts and ends of one API key may reach in a second: each costs
    /// about 5 µs, and a row in the log.
    package var destinationsPerKeyPerSecond = 20_000
    /// Maximum number of cards on all devices, with names of unregistered devices.
    package var cardsMax = 2_000_000
    package var cardsPerTenantMax = 1_000_000
    /// Maximum number of cards that the starts in the pending batch make; and the same for an
    /// atomic batch, where each line counts as at least one.
    package var pendingCardsMax = 100_000
    package var atomicCardsMax = 3_000
    /// Maximum number of registered devices, which need at least a kilobyte each.
    package var devicesMax = 1_000_000
    package var devicesPerTenantMax = 500_000
    /// Maximum number of idempotency keys of a day, which need a hundred bytes each.
    package var idempotencyKeysMax = 20_000_000
    package var idempotencyKeysPerTenantMax = 10_000_000
    /// Maximum number of running activities of one user, or that name one device, because each
    /// report of a phone examines all of them.
    package var runningPerRecipientMax = 200
    /// Maximum number of a device's cards. Above it, ended ones are removed; if all run, the device
    /// gets no more cards.
    package var cardsPerDeviceMax = 1_000
    /// Maximum number of a user's devices, because a change for a user handles all of them in one
    /// step.
    package var devicesPerUserMax = 1_000

    package init() {}
}
