/// The turns of one upstream: how many pushes may be in flight, who waits, and whether the breaker
/// is open because Apple has trouble.
struct Upstream: Sendable {
    /// Failures in a row that open the breaker (pacing rule 14).
    static let failuresMax = 8
    /// Failures among the last hundred answers that open it.
    static let failuresOfHundredMax = 50

    /// A silence of Apple that opens it, however few pushes were in flight: a new connection takes
    /// one push until that is answered.
    static let silenceMax = Span.seconds(20)
    /// The shortest silence after which a push without an answer counts as the upstream's failure.
    /// If others were answered meanwhile, the push itself failed.
    static let silenceMin = Span.seconds(5)
    /// A push lost longer ago says nothing about present losses.
    private static let silenceKept = Span.minutes(1)

    /// If so many phones' tokens are refused for topic or environment before any token was right,
    /// the fault is the app's and not the phones'.
    static let strangersMax = 3
    /// While the app's tokens are wrong, the time from one untried device to the next. It halves
    /// with each, from the first value down to the second, so a thousand wrong devices delay a
    /// right one by half a minute.
    static let (strangerPaceMax, strangerPaceMin) = (Span.seconds(2), Span.milliseconds(20))

    private(set) var capacity = 1
    private(set) var inFlight = 0
    private var failuresInRow = 0
    private var lately = LastHundred()
    private var probeDelay = Span.seconds(1)
    /// Since when pushes are in flight without an answer; nil if Apple has answered last.
    private var silentSince: Instant?
    private var unansweredInRow = 0
    private var lastUnanswered = Instant.distantPast
    /// Devices whose tokens are refused for their topic or environment, by slot.
    private var strangers: Set<DeviceSlot> = []
    /// Whether a first right token is sought: each try takes another device then.
    private(set) var seeksRightToken = false
    /// Apple has once taken a token of this topic and environment. It is on record.
    private(set) var hasBeenRight = false
    /// The silence that opened the breaker, if silence did.
    private(set) var silence: UpstreamSilence?
    /// Nothing is sent until then; after it, one push tries.
    private(set) var parkedUntil: Instant?
    private var waitingMust = TurnQueue<UpstreamTurn>()
    private var waitingRest = TurnQueue<UpstreamTurn>()

    mutating func setCapacity(_ count: Int) { capacity = max(0, count) }

    /// Whether a push may go now.
    func isOpen(now: Instant) -> Bool {
        if let parkedUntil { return parkedUntil <= now && inFlight == 0 && capacity > 0 }
        return inFlight < capacity
    }

    /// Whether a push that already has its place may be sent now: the limit may have fallen since.
    func isUsable(now: Instant) -> Bool {
        inFlight <= capacity && parkedUntil.map { $0 <= now } ?? true
    }

    /// A change may have solved the trouble: the next push tries now, and the ones after it soon.
    mutating func tryNow(_ now: Instant) {
        guard let parkedUntil, parkedUntil > now else { return }
        self.parkedUntil = now
        probeDelay = .seconds(1)
    }

    /// When the next try is due; nil if the breaker is closed or the try is in flight.
    var probeAt: Instant? { inFlight == 0 && capacity > 0 ? parkedUntil : nil }

    /// When the next try is due; nil if it is due already or the breaker is closed.
    func nextTry(now: Instant) -> Instant? { parkedUntil.flatMap { $0 > now ? $0 : nil } }

    /// A push is sent, or will be as soon as it is on record.
    mutating func took(now: Instant) {
        if inFlight == 0, now - lastUnanswered > Self.silenceKept { endSilence(now: now) }
        inFlight += 1
        if silentSince == nil { silentSince = now }
    }

    /// A place is free again: an answer came, or the push that the place was kept for was not sent.
    mutating func gaveBack() {
        inFlight = max(0, inFlight - 1)
        if inFlight == 0, unansweredInRow == 0 { silentSince = nil }
    }

    /// A device's token is refused for topic or environment. Returns whether the app's tokens are
    /// wrong.
    ///
    /// - Parameter device: its slot, because one phone may bring any number of wrong tokens.
    mutating func noteWrongToken(ofDevice device: DeviceSlot) -> Bool {
        guard !hasBeenRight else { return false }
        // The devices' first tries come at a set pace. When all have had one, the tries slow down.
        if strangers.insert(device).inserted { probeDelay = strangerPace }
        if strangers.count >= Self.strangersMax { seeksRightToken = true }
        return seeksRightToken
    }

    /// A device has another token, or its slot has another device: it soon has a new first try.
    mutating func forgetStranger(_ device: DeviceSlot, now: Instant) {
        guard strangers.remove(device) != nil, seeksRightToken else { return }
        tryStranger(now: now)
    }

    /// Whether a device's token was refused for topic or environment. While the upstream seeks a
    /// first right token, such a device comes last.
    func isStranger(_ device: DeviceSlot) -> Bool { strangers.contains(device) }

    /// An untried device waits: its try comes soon.
    mutating func tryStranger(now: Instant) {
        guard let parkedUntil else { return }
        self.parkedUntil = min(parkedUntil, now + strangerPace)
    }

    private var strangerPace: Span {
        let halvings = min(7, max(0, strangers.count - Self.strangersMax))
        let pace = Self.strangerPaceMax.nanoseconds >> Int64(halvings)
        return max(Self.strangerPaceMin, Span(nanoseconds: pace))
    }

    /// A token was of this topic and environment, whatever became of its push: from now on a token
    /// that is refused for them is itself at fault.
    mutating func noteRightToken() {
        hasBeenRight = true
        seeksRightToken = false
        strangers = []
    }

    /// An answer to a push came.
    mutating func heard(now: Instant) {
        endSilence(now: now)
        silence = nil
    }

    private mutating func endSilence(now: Instant) {
        unansweredInRow = 0
        silentSince = inFlight > 0 ? now : nil
    }

    /// For how long no answer has come to pushes in flight; nil if that is not long.
    func silence(now: Instant) -> Span? {
        guard let silentSince, inFlight > 0, now - silentSince >= Self.silenceMin else {
            return nil
        }
        return now - silentSince
    }

    /// A push got no answer and will get none.
    ///
    /// - Parameters:
    ///   - took: the time since its hand-over.
    ///   - probeMax: see `failed`, as for the other parameters.
    mutating func unanswered(took: Span, probeMax: Span, jitter: Double, now: Instant) {
        unansweredInRow += 1
        lastUnanswered = now
        // Nil: it was the only one that was out.
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
        // The first success closes the breaker, and earlier failures no longer count.
        if parkedUntil != nil { lately = LastHundred() } else { lately.append(isFailure: false) }
        parkedUntil = nil
        probeDelay = .seconds(1)
    }

    /// - Parameters:
    ///   - atOnce: open the breaker now, because no push can succeed without connection or key.
    ///   - jitter: 0 up to 1, from the core's random numbers.
    mutating func failed(atOnce: Bool, probeMax: Span, jitter: Double, now: Instant) {
        failuresInRow += 1
        lately.append(isFailure: true)
        if parkedUntil == nil, !atOnce, failuresInRow < Self.failuresMax,
            lately.failures < Self.failuresOfHundredMax
        {
            return
        }
        // While the breaker is open, only the probe's own failure counts: answers to pushes sent
        // before do not move `parkedUntil`.
        if let parkedUntil, parkedUntil > now { return }
        // The longest delay is a little below `probeMax`, so that relays do not try all at once.
        let delay = min(
            Double(probeDelay.nanoseconds) * (1 + jitter / 2),
            Double(probeMax.nanoseconds) * (1 - jitter / 8))
        parkedUntil = now + Span(nanoseconds: Int64(delay))
        probeDelay = min(probeMax, Span(nanoseconds: probeDelay.nanoseconds * 2))
    }

    mutating func enqueue(_ turn: UpstreamTurn, must: Bool) {
        if must { waitingMust.append(turn) } else { waitingRest.append(turn) }
    }

    /// Who has the next turn: `must` first, else in order of arrival.
    mutating func nextWaiting() -> UpstreamTurn? {
        waitingMust.popFirst() ?? waitingRest.popFirst()
    }

    /// The first waiting turn that fulfils the condition.
    func firstWaiting(where isWanted: (UpstreamTurn) -> Bool) -> UpstreamTurn? {
        waitingMust.first(where: isWanted) ?? waitingRest.first(where: isWanted)
    }

    /// Takes a waiting turn out of the queue, because it goes before all others.
    mutating func takeWaiting(_ turn: UpstreamTurn) {
        if !waitingMust.remove(turn) { _ = waitingRest.remove(turn) }
    }

    var hasWaiting: Bool { !waitingMust.isEmpty || !waitingRest.isEmpty }
    var waitingCount: Int { waitingMust.count + waitingRest.count }
}

/// How long Apple had not answered when an upstream closed because of that.
package struct UpstreamSilence: Hashable, Sendable {
    /// Pushes in a row that got no answer.
    package var pushes: Int
    /// Time since the last answer, or since the first of those pushes was sent.
    package var span: Span

    package init(pushes: Int, span: Span) {
        self.pushes = pushes
        self.span = span
    }
}

/// Which of the last hundred answers were failures.
struct LastHundred: Sendable {
    private var bits: (UInt64, UInt64) = (0, 0)
    private var place = 0
    private(set) var failures = 0

    /// Replaces the answer from a hundred answers before.
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
