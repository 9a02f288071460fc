/// One upstream's places for pushes: how many are free, who waits, and whether its breaker is open
/// (the upstream is closed) because Apple has trouble.
struct Upstream: Sendable {
    /// Number of failures in a row that open the breaker (pacing rule 14).
    static let failuresMax = 8
    /// Number of failures in the last hundred answers that open the breaker.
    static let failuresOfHundredMax = 50

    /// If Apple does not answer for this long, the breaker opens, even with one push in flight: a
    /// new connection has only one until that is answered.
    static let silenceMax = Span.seconds(20)
    /// A push without an answer counts as a failure of the upstream only after this time without
    /// any answer. If other pushes were answered meanwhile, only this push has failed.
    static let silenceMin = Span.seconds(5)
    /// A push that was lost longer ago says nothing about the present.
    private static let silenceKept = Span.minutes(1)

    /// If Apple refuses the tokens of this many devices for topic or environment, and has accepted
    /// none, the app is configured wrongly.
    static let strangersMax = 3
    /// While no right token is known: the time between the first tries of two devices. It halves
    /// with each device, from the first value to the second: a thousand devices with wrong tokens
    /// delay a right one by half a minute.
    static let (strangerPaceMax, strangerPaceMin) = (Span.seconds(2), Span.milliseconds(20))

    private(set) var capacity = 1
    private(set) var inFlight = 0
    private var failuresInRow = 0
    private var lately = LastHundred()
    private var probeDelay = Span.seconds(1)
    /// Since when pushes have been in flight without an answer; nil if there are none.
    private var silentSince: Instant?
    private var unansweredInRow = 0
    private var lastUnanswered = Instant.distantPast
    /// Devices ("strangers") whose tokens Apple has refused for topic or environment, by slot.
    private var strangers: Set<DeviceSlot> = []
    /// True while no right token is known: then each try uses another device.
    private(set) var seeksRightToken = false
    /// True if Apple has ever accepted a token of this topic and environment. This is stored.
    private(set) var hasBeenRight = false
    /// How long Apple did not answer before the breaker opened, if it opened because of that.
    private(set) var silence: UpstreamSilence?
    /// The newest failure, while the breaker is open because of it.
    var cause: PushResult?
    /// Why the breaker is open, as a sentence without its full stop; nil while it is closed.
    var trouble: String? { parkedUntil == nil ? nil : cause?.trouble(silence) }
    /// Nothing is sent until this time; then one push tries. Nil while the breaker is closed.
    private(set) var parkedUntil: Instant?
    private var urgent = WaitingRoom()
    private var rest = WaitingRoom()

    mutating func setCapacity(_ count: Int) { capacity = max(0, count) }

    func isOpen(now: Instant) -> Bool {
        if let parkedUntil { return parkedUntil <= now && inFlight == 0 && capacity > 0 }
        return inFlight < capacity
    }

    /// True if a push that keeps its place may be sent now. The capacity may have fallen meanwhile.
    func isUsable(now: Instant) -> Bool {
        inFlight <= capacity && parkedUntil.map { $0 <= now } ?? true
    }

    /// Lets the next push try now, because a change may have ended the trouble.
    mutating func tryNow(_ now: Instant) {
        guard let parkedUntil, parkedUntil > now else { return }
        self.parkedUntil = now
        probeDelay = .seconds(1)
    }

    /// When the next try is due; nil if the breaker is closed or a try is in flight.
    var probeAt: Instant? { inFlight == 0 && capacity > 0 ? parkedUntil : nil }

    /// The same; nil if it is due now or the breaker is closed.
    func nextTry(now: Instant) -> Instant? { parkedUntil.flatMap { $0 > now ? $0 : nil } }

    /// Takes a place for a push that is sent now, or as soon as it is durable.
    mutating func took(now: Instant) {
        if inFlight == 0, now - lastUnanswered > Self.silenceKept { endSilence(now: now) }
        inFlight += 1
        if silentSince == nil { silentSince = now }
    }

    /// Frees a place, because an answer came or the push was not sent.
    mutating func gaveBack() {
        inFlight = max(0, inFlight - 1)
        if inFlight == 0, unansweredInRow == 0 { silentSince = nil }
    }

    /// Notes that Apple has refused a device's token for topic or environment. Returns true if the
    /// app is probably configured wrongly.
    ///
    /// - Parameter device: the slot. Devices are counted, because one phone may send many wrong
    ///   tokens.
    mutating func noteWrongToken(ofDevice device: DeviceSlot) -> Bool {
        guard !hasBeenRight else { return false }
        // The first tries of devices have their own pace. When all were tried, tries become slower.
        if strangers.insert(device).inserted { probeDelay = strangerPace }
        if strangers.count >= Self.strangersMax { seeksRightToken = true }
        return seeksRightToken
    }

    /// Forgets a device that has another token or is gone: it gets a new first try soon.
    mutating func forgetStranger(_ device: DeviceSlot, now: Instant) {
        guard strangers.remove(device) != nil, seeksRightToken else { return }
        urgent.forgetTried(device)
        rest.forgetTried(device)
        tryStranger(now: now)
    }

    /// True if Apple has refused the device's token for topic or environment. While no right token
    /// is known, such a device is tried last.
    func isStranger(_ device: DeviceSlot) -> Bool { strangers.contains(device) }

    /// Moves the next try forward, because a device waits that was not tried yet.
    mutating func tryStranger(now: Instant) {
        guard let parkedUntil else { return }
        self.parkedUntil = min(parkedUntil, now + strangerPace)
    }

    private var strangerPace: Span {
        let halvings = min(7, max(0, strangers.count - Self.strangersMax))
        let pace = Self.strangerPaceMax.nanoseconds >> Int64(halvings)
        return max(Self.strangerPaceMin, Span(nanoseconds: pace))
    }

    /// Notes that a token was right for this topic and environment. From now on, a refused token is
    /// wrong by itself.
    mutating func noteRightToken() {
        hasBeenRight = true
        seeksRightToken = false
        strangers = []
    }

    /// Notes that Apple has answered a push.
    mutating func heard(now: Instant) {
        endSilence(now: now)
        silence = nil
    }

    private mutating func endSilence(now: Instant) {
        unansweredInRow = 0
        silentSince = inFlight > 0 ? now : nil
    }

    /// How long Apple has not answered the pushes in flight; nil if not for long.
    func silence(now: Instant) -> Span? {
        guard let silentSince, inFlight > 0, now - silentSince >= Self.silenceMin else {
            return nil
        }
        return now - silentSince
    }

    /// Notes that a push got no answer and will get none.
    ///
    /// - Parameters:
    ///   - took: time since the push was handed over.
    ///   - probeMax: like `jitter`, as in `failed`.
    mutating func unanswered(took: Span, probeMax: Span, jitter: Double, now: Instant) {
        unansweredInRow += 1
        lastUnanswered = now
        // nil: this was the only push in flight.
        let since = silentSince ?? now - took
        silentSince = since
        let span = now - since
        guard span >= Self.silenceMin || parkedUntil != nil else { return }
        failed(atOnce: span >= Self.silenceMax, probeMax: probeMax, jitter: jitter, now: now)
        if parkedUntil != nil, silence == nil {
            silence = UpstreamSilence(pushes: unansweredInRow, span: span)
        }
    }

    mutating func succeeded() {
        failuresInRow = 0
        // The first success closes the breaker; earlier failures do not count any more.
        if parkedUntil != nil { lately = LastHundred() } else { lately.append(isFailure: false) }
        parkedUntil = nil
        probeDelay = .seconds(1)
    }

    /// - Parameters:
    ///   - atOnce: true to open the breaker now, because without connection or key no push can
    /// succeed.
    ///   - probeMax: the longest time between two tries.
    ///   - jitter: a random number from 0 to 1.
    mutating func failed(atOnce: Bool, probeMax: Span, jitter: Double, now: Instant) {
        failuresInRow += 1
        lately.append(isFailure: true)
        if parkedUntil == nil, !atOnce, failuresInRow < Self.failuresMax,
            lately.failures < Self.failuresOfHundredMax
        {
            return
        }
        // While the breaker is open, only the try itself counts. Answers to earlier pushes do not
        // change `parkedUntil`.
        if let parkedUntil, parkedUntil > now { return }
        // The longest delay is slightly random, too, so that relays do not all try at the same
        // time.
        let delay = min(
            Double(probeDelay.nanoseconds) * (1 + jitter / 2),
            Double(probeMax.nanoseconds) * (1 - jitter / 8))
        parkedUntil = now + Span(nanoseconds: Int64(delay))
        probeDelay = min(probeMax, Span(nanoseconds: probeDelay.nanoseconds * 2))
    }

    /// Adds what waits for a place. While no right token is known, it waits behind the others if
    /// its device was tried.
    mutating func enqueue(_ turn: UpstreamTurn, of device: DeviceSlot, must: Bool) {
        let waiting = WaitingRoom.Waiting(turn: turn, device: device)
        let isTried = seeksRightToken && isStranger(device)
        if must {
            urgent.seat(waiting, isTried: isTried)
        } else {
            rest.seat(waiting, isTried: isTried)
        }
    }

    /// Removes and returns what has the next turn: urgent pushes first, else in order of arrival.
    /// While no right token is known, all whose device was not tried come first. Each call is O(1).
    ///
    /// - Returns: nil if nothing waits. `.moved` if the first one is of a tried device: it waits
    ///   behind the others from now on.
    mutating func nextWaiting() -> NextWaiting? {
        guard seeksRightToken else {
            return (urgent.popAny() ?? rest.popAny()).map { .turn($0) }
        }
        return urgent.popFresh(besides: strangers) ?? rest.popFresh(besides: strangers)
            ?? (urgent.popTried() ?? rest.popTried()).map { .turn($0) }
    }

    var hasWaiting: Bool { waitingCount > 0 }
    var waitingCount: Int { urgent.count + rest.count }
}

/// How long Apple had not answered when an upstream closed because of that.
package struct UpstreamSilence: Hashable, Sendable {
    /// Number of pushes in a row that got no answer.
    package var pushes: Int
    /// Time since the last answer, or since the first of these pushes was sent.
    package var span: Span
}

struct LastHundred: Sendable {
    private var bits: (UInt64, UInt64) = (0, 0)
    private var place = 0
    private(set) var failures = 0

    /// Adds an answer in place of the oldest one.
    mutating func append(isFailure: Bool) {
        let bit = UInt64(1) << UInt64(place & 63)
        let old = place < 64 ? bits.0 : bits.1
        if old & bit != 0 { failures -= 1 }
        if isFailure { failures += 1 }
        let new = isFailure ? old | bit : old & ~bit
        if place < 64 { bits.0 = new } else { bits.1 = new }
        place = place == 99 ? 0 : place + 1
    }
}
