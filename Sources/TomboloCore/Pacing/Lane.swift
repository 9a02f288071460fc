/// One lane's turn-taking: how many pushes may be in flight, who waits, and whether Apple is
/// unwell.
struct Lane: Sendable {
    /// So many failures in a row open the breaker (pacing rule 14).
    static let failuresMax = 8
    /// Or so many of the last hundred.
    static let failuresOfHundredMax = 50

    /// So long without a word from Apple close it, however few pushes were out: a new connection
    /// takes one push until it is answered.
    static let silenceMax = Span.seconds(20)
    /// A push without an answer is a failure of the upstream where nothing came for so long. Where
    /// others were answered meanwhile it is the push's own.
    static let silenceMin = Span.seconds(5)
    /// What was lost so long ago says nothing about what is lost now.
    private static let silenceKept = Span.minutes(1)

    /// So many phones whose tokens are refused for their topic or environment are not at fault,
    /// where none was ever right: the app's are wrong.
    static let strangersMax = 3
    /// While the app's tokens are wrong, a device that was not tried yet is tried so long after the
    /// one before; each time in half the time, down to the second: a thousand wrong devices hold a
    /// right one back for half a minute.
    static let (strangerPaceMax, strangerPaceMin) = (Span.seconds(2), Span.milliseconds(20))

    private(set) var capacity = 1
    private(set) var inFlight = 0
    private var failuresInRow = 0
    private var lately = LastHundred()
    private var probeDelay = Span.seconds(1)
    /// Since when pushes are out and nothing comes back; nil: Apple has said the last word.
    private var silentSince: Instant?
    private var unansweredInRow = 0
    private var lastUnanswered = Instant.distantPast
    /// Devices whose tokens are refused for their topic or environment, by slot.
    private var strangers: Set<DeviceSlot> = []
    /// Whether it looks for a first token that is right: then each try takes another device.
    private(set) var seeksRightToken = false
    /// Apple has taken a token of this topic and environment, once. It is on record.
    private(set) var hasBeenRight = false
    /// What closed it, where that is silence.
    private(set) var silence: UpstreamSilence?
    /// Until then nothing goes; after it one push tries.
    private(set) var parkedUntil: Instant?
    private var waitingMust = TurnQueue<UpstreamTurn>()
    private var waitingRest = TurnQueue<UpstreamTurn>()

    mutating func setCapacity(_ count: Int) { capacity = max(0, count) }

    /// Whether a push may go now.
    func isOpen(now: Instant) -> Bool {
        if let parkedUntil { return parkedUntil <= now && inFlight == 0 && capacity > 0 }
        return inFlight < capacity
    }

    /// Whether a push that has its place already may go now: the limit may have fallen since.
    func isUsable(now: Instant) -> Bool {
        inFlight <= capacity && parkedUntil.map { $0 <= now } ?? true
    }

    /// Something has changed that may be the cure: the next push tries now, and the ones after it
    /// soon.
    mutating func tryNow(_ now: Instant) {
        guard let parkedUntil, parkedUntil > now else { return }
        self.parkedUntil = now
        probeDelay = .seconds(1)
    }

    /// When the next try is due; nil while nothing is parked or the try is under way.
    var probeAt: Instant? { inFlight == 0 && capacity > 0 ? parkedUntil : nil }

    /// When the next try is due; nil where it is due already, or nothing is parked.
    func nextTry(now: Instant) -> Instant? { parkedUntil.flatMap { $0 > now ? $0 : nil } }

    /// A push goes, or is about to as soon as it is on record.
    mutating func took(now: Instant) {
        if inFlight == 0, now - lastUnanswered > Self.silenceKept { endSilence(now: now) }
        inFlight += 1
        if silentSince == nil { silentSince = now }
    }

    /// A place is free again: an answer came, whatever it was, or what it was kept for did not go.
    mutating func gaveBack() {
        inFlight = max(0, inFlight - 1)
        if inFlight == 0, unansweredInRow == 0 { silentSince = nil }
    }

    /// A device's token is refused for its topic or environment; answers whether the app's are
    /// wrong.
    ///
    /// - Parameter device: its slot. One phone may bring as many wrong tokens as it likes.
    mutating func noteWrongToken(ofDevice device: DeviceSlot) -> Bool {
        guard !hasBeenRight else { return false }
        // Each device has its try at a steady pace. Where all have had one, it slows down.
        if strangers.insert(device).inserted { probeDelay = strangerPace }
        if strangers.count >= Self.strangersMax { seeksRightToken = true }
        return seeksRightToken
    }

    /// A device has another token, or is another one: it has its try anew, and soon.
    mutating func forgetStranger(_ device: DeviceSlot, now: Instant) {
        guard strangers.remove(device) != nil, seeksRightToken else { return }
        tryStranger(now: now)
    }

    /// Whether a device's token was refused for its topic or environment. While the upstream looks
    /// for a first right token such a device comes last.
    func isStranger(_ device: DeviceSlot) -> Bool { strangers.contains(device) }

    /// A device that was not tried yet waits: its try comes soon.
    mutating func tryStranger(now: Instant) {
        guard let parkedUntil else { return }
        self.parkedUntil = min(parkedUntil, now + strangerPace)
    }

    private var strangerPace: Span {
        let halvings = min(7, max(0, strangers.count - Self.strangersMax))
        let pace = Self.strangerPaceMax.nanoseconds >> Int64(halvings)
        return max(Self.strangerPaceMin, Span(nanoseconds: pace))
    }

    /// A token was of this topic and environment, whatever else became of its push: from now on a
    /// token that is not is at fault itself.
    mutating func noteRightToken() {
        hasBeenRight = true
        seeksRightToken = false
        strangers = []
    }

    /// Something came back for a push.
    mutating func heard(now: Instant) {
        endSilence(now: now)
        silence = nil
    }

    private mutating func endSilence(now: Instant) {
        unansweredInRow = 0
        silentSince = inFlight > 0 ? now : nil
    }

    /// For how long nothing has come back though pushes are out; nil where that is not long.
    func silence(now: Instant) -> Span? {
        guard let silentSince, inFlight > 0, now - silentSince >= Self.silenceMin else {
            return nil
        }
        return now - silentSince
    }

    /// A push got no answer, and will get none.
    ///
    /// - Parameters:
    ///   - took: from its hand-over.
    ///   - probeMax: as the others, of `failed`.
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
        // The first success closes the breaker, and what was before it counts no more.
        if parkedUntil != nil { lately = LastHundred() } else { lately.append(isFailure: false) }
        parkedUntil = nil
        probeDelay = .seconds(1)
    }

    /// - Parameters:
    ///   - atOnce: no use in trying others: there is no connection, or the key is refused.
    ///   - jitter: 0 up to 1, from the core's chance.
    mutating func failed(atOnce: Bool, probeMax: Span, jitter: Double, now: Instant) {
        failuresInRow += 1
        lately.append(isFailure: true)
        if parkedUntil == nil, !atOnce, failuresInRow < Self.failuresMax,
            lately.failures < Self.failuresOfHundredMax
        {
            return
        }
        // While parked only the probe's own failure counts: answers of pushes sent before do not
        // move it.
        if let parkedUntil, parkedUntil > now { return }
        // At its longest a little less than told, so that relays do not knock together.
        let delay = min(
            Double(probeDelay.nanoseconds) * (1 + jitter / 2),
            Double(probeMax.nanoseconds) * (1 - jitter / 8))
        parkedUntil = now + Span(nanoseconds: Int64(delay))
        probeDelay = min(probeMax, Span(nanoseconds: probeDelay.nanoseconds * 2))
    }

    mutating func enqueue(_ turn: UpstreamTurn, must: Bool) {
        if must { waitingMust.append(turn) } else { waitingRest.append(turn) }
    }

    /// Whose turn it is: `must` first, else in order of arrival.
    mutating func nextWaiting() -> UpstreamTurn? {
        waitingMust.popFirst() ?? waitingRest.popFirst()
    }

    /// The first that waits and fulfils a condition.
    func firstWaiting(where isWanted: (UpstreamTurn) -> Bool) -> UpstreamTurn? {
        waitingMust.first(where: isWanted) ?? waitingRest.first(where: isWanted)
    }

    /// One that waits goes before all others.
    mutating func takeWaiting(_ turn: UpstreamTurn) {
        if !waitingMust.remove(turn) { _ = waitingRest.remove(turn) }
    }

    var hasWaiting: Bool { !waitingMust.isEmpty || !waitingRest.isEmpty }
    var waitingCount: Int { waitingMust.count + waitingRest.count }
}

/// For how long Apple has said nothing, when an upstream closed because of that.
package struct UpstreamSilence: Hashable, Sendable {
    /// In a row that got no answer.
    package var pushes: Int
    /// Since the last word, or since the first of them went.
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

    /// Takes the place of the answer a hundred before.
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
