/// Bounds of time and size, each with its reason.
package struct Limits: Hashable, Sendable {
    /// One push in flight is waited for this long; then its outcome is unknown (pacing rule 6).
    package var inFlightMax = Span.seconds(10)
    /// A start whose outcome is unknown waits this long for a sign of life.
    package var startDeadline = Span.minutes(2)
    /// The system ends a card so long after its start (Apple, "Displaying live data with Live
    /// Activities").
    package static let systemCardLife = Span.hours(8)
    /// The same, as a simulated system may have it otherwise.
    package var cardLife = systemCardLife
    /// A token that dies so short before its card's end by age tells of that end.
    package var lastOfCard = Span.minutes(10)
    /// A card that is renewed gets its successor so long before its end.
    package var renewBefore = Span.minutes(20)
    /// A successor that has no update token by then is stranded: the old card stays.
    package var strandedAfter = Span.minutes(10)
    /// A start waits so long for a channel of its own; then an update token will do.
    package var channelWait = Span.seconds(5)
    /// What a phone was sent at priority 5 only goes at 10 so long after the first of it (pacing
    /// rule 7).
    package var settle = Span.minutes(10)
    /// What Apple took goes once more so long after the last change (pacing rule 15).
    package var echoAfter = Span.minutes(10)
    /// A sign of life this soon after a send says nothing of that send yet.
    package var echoGrace = Span.seconds(10)
    /// A 410 from before its token's registration is not believed for so long after that.
    package var oldWord = Span.minutes(10)
    /// Parked lanes are probed at least this often (Apple asks for 15 minutes after a 5xx).
    package var probeMax = Span.minutes(15)
    /// A clip that is granted fewer frames than one in this time shows its poster frame only.
    package var frameIntervalMax = Span.seconds(20)
    /// A device may be sent so many times what one of its activities may; 0 is no limit of its
    /// own.
    package var deviceGrantFactor: Int64 = 4
    /// Marks wait this long to be written with others; after a crash at most so much is guessed.
    package var markFlush = Span.seconds(2)
    /// After a boundary a timeline's producer is asked within this, each at a time of its own.
    package var timelineJitter = Span.minutes(10)
    /// How long an idempotency key is kept.
    package var idempotency = Span.hours(24)
    /// A token for an activity that nobody knows yet: the app often wins that race.
    package var orphanToken = Span.hours(8)
    /// How long an ended activity stays in memory for late readers.
    package var endedKept = Span.hours(24)
    /// Events staged for one commit: what one group commit is worth.
    package var stagedEventsMax = 10_000
    /// And bytes of their bodies: while the disk is slow, large events must not fill the memory
    /// before there are many of them.
    package var stagedBytesMax = 32 << 20
    /// Running activities, of all tenants: a kilobyte and more each.
    package var runningMax = 1_000_000
    package var runningPerTenantMax = 500_000
    /// Ended activities in memory; beyond these the log answers for the oldest of them early.
    package var endedMax = 200_000
    /// Cards on all devices, and names of devices that are not registered.
    package var cardsMax = 2_000_000
    package var cardsPerTenantMax = 1_000_000
    /// Cards that starts on their way to the disk will make, all in one piece of work; and of an
    /// atomic batch, whose lines count as one at least.
    package var stagedCardsMax = 100_000
    package var atomicCardsMax = 3_000
    /// Registered devices, of all tenants: a kilobyte and more each.
    package var devicesMax = 1_000_000
    package var devicesPerTenantMax = 500_000
    /// Idempotency keys of a day: a hundred bytes each.
    package var idempotencyKeysMax = 20_000_000
    package var idempotencyKeysPerTenantMax = 10_000_000
    /// Running activities of one user, and as many that name one device: all of them are looked at
    /// with each word of a phone, and it shows a few.
    package var runningPerRecipientMax = 200
    /// Cards of one device; beyond, the oldest of those that have ended leave, and then it gets no
    /// new ones.
    package var cardsPerDeviceMax = 1_000
    /// A change for a user goes to each of the user's devices in one piece of work.
    package var devicesPerUserMax = 1_000

    package init() {}
}
