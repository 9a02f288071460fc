/// Limits of time and size, with their reasons.
package struct Limits: Hashable, Sendable {
    /// How long an answer to a push is awaited; then its outcome is unknown (pacing rule 6).
    package var inFlightMax = Span.seconds(10)
    /// How long a start of unknown outcome waits for a sign of life.
    package var startDeadline = Span.minutes(2)
    /// The age at which the system ends a card (Apple, "Displaying live data with Live
    /// Activities").
    package static let systemCardLife = Span.hours(8)
    /// The same, but adjustable for a simulated system.
    package var cardLife = systemCardLife
    /// If a token dies within this time before its card's end by age, the card has ended by age.
    package var lastOfCard = Span.minutes(10)
    /// How long before its end a renewed card gets its successor.
    package var renewBefore = Span.minutes(20)
    /// A successor without an update token after this time is stranded: the old card stays.
    package var strandedAfter = Span.minutes(10)
    /// How long a start waits for a channel of its own; then an update token is used.
    package var channelWait = Span.seconds(5)
    /// A change that was sent at priority 5 only is sent at 10 this long after the first such
    /// change (pacing rule 7).
    package var settle = Span.minutes(10)
    /// What Apple took is sent again this long after the last change (pacing rule 15).
    package var echoAfter = Span.minutes(10)
    /// A sign of life this soon after a send is no evidence about that send.
    package var echoGrace = Span.seconds(10)
    /// For this long after a token's registration, a 410 from before it is not believed.
    package var oldWord = Span.minutes(10)
    /// Closed upstreams are probed at least this often (Apple asks for 15 minutes after a 5xx).
    package var probeMax = Span.minutes(15)
    /// A clip granted less than one frame in this time shows only its poster frame.
    package var frameIntervalMax = Span.seconds(20)
    /// A device's grant is this multiple of one of its activities' grants; 0 means no limit for the
    /// device.
    package var deviceGrantFactor: Int64 = 4
    /// How long checkpoints wait to be written together; a crash leaves this much to guess.
    package var markFlush = Span.seconds(2)
    /// A timeline's producer is asked within this time after a boundary, each at its own time.
    package var timelineJitter = Span.minutes(10)
    /// How long an idempotency key is kept.
    package var idempotency = Span.hours(24)
    /// How long a token for an unknown activity is kept: the app's registration often comes first.
    package var orphanToken = Span.hours(8)
    /// How long an ended activity stays in memory for late readers.
    package var endedKept = Span.hours(24)
    /// Events in the pending batch, at most: as many as make a group commit worthwhile.
    package var stagedEventsMax = 10_000
    /// Bytes of their bodies, at most: while the disk is slow, large events must not fill the
    /// memory before there are many.
    package var stagedBytesMax = 32 << 20
    /// Running activities of all tenants: a kilobyte or more each.
    package var runningMax = 1_000_000
    package var runningPerTenantMax = 500_000
    /// Ended activities in memory; beyond these, the oldest are read from the log early.
    package var endedMax = 200_000
    /// Cards on all devices, and names of unregistered devices.
    package var cardsMax = 2_000_000
    package var cardsPerTenantMax = 1_000_000
    /// Cards that starts in the pending batch will make, all in one piece of work; and cards of an
    /// atomic batch, where each line counts at least one.
    package var stagedCardsMax = 100_000
    package var atomicCardsMax = 3_000
    /// Registered devices of all tenants: a kilobyte or more each.
    package var devicesMax = 1_000_000
    package var devicesPerTenantMax = 500_000
    /// Idempotency keys of a day: a hundred bytes each.
    package var idempotencyKeysMax = 20_000_000
    package var idempotencyKeysPerTenantMax = 10_000_000
    /// Running activities of one user, and of those that name one device: all are looked at for
    /// each report of a phone, which shows only a few.
    package var runningPerRecipientMax = 200
    /// Cards of one device. Beyond that, the oldest ended ones are removed; if that is not enough,
    /// the device gets no new cards.
    package var cardsPerDeviceMax = 1_000
    /// A change for a user is applied to each of the user's devices in one piece of work.
    package var devicesPerUserMax = 1_000

    package init() {}
}
