/// The app's half of the protocol. It decides what to observe, to keep and to upload, and in which
/// order.
///
/// A pure state machine without ActivityKit. The app passes events in, carries the actions out,
/// sends `queue.next`, and passes the answer to `answered`. It writes `kept` to a file after each
/// of these, because the system may end the process at any time.
///
/// ```swift
/// var contract = AppContract(device: "phone-1", facts: facts, kept: saved)
/// let actions = contract.handle(.launched, at: now, time: "2026-11-20T09:03:00Z")
/// while let upload = contract.queue.next(at: now) {
///     let status = put(upload.path, upload.body)
///     _ = contract.answered(upload, .answered(status: status), at: now)
/// }
/// save(contract.kept)
/// ```
public struct AppContract: Sendable {
    /// The relay's id of this device.
    public let device: String
    public internal(set) var facts: DeviceFacts
    /// The user for whom the app has a key; nil if there is no user.
    public internal(set) var user: String?
    public var queue = UploadQueue()
    var presence: ScenePresence
    /// Tokens for starts, widgets and controls, by their names.
    var tokens: [String: Token] = [:]
    /// Cards that still exist, in the order in which they appeared.
    var cards: [Card] = []
    /// Ids of cards that the app has ended. They may stay visible until the system removes them.
    var leaving: Set<String> = []
    /// True from the sign-out until the next key.
    var isSignedOut = false
    /// True while the relay has accepted no upload with the newest key. If it refuses such a key,
    /// another one would be refused too, so the app asks at the next launch or in the foreground.
    private var isKeyUntried = false
    /// The newest report of the scene's phase.
    private var presenceBody: [UInt8]?
    /// True once the relay has said that another user has the device now.
    private var isUserFormer = false
    /// Ids of the cards that this process already observes.
    private var observed: Set<String> = []

    struct Token: Hashable, Sendable {
        var text: String
        /// When the app first saw the token, in RFC 3339.
        var observedAt: String
    }

    struct Card: Hashable, Sendable {
        var id: String
        var name: String?
        var token: Token?
        /// True once the card's first terminal state was reported.
        var isOver = false
    }

    /// Maximum number of cards that are kept; if more come, the oldest is dropped. The system
    /// allows far fewer at once.
    public static let cardsMax = 1_024
    /// Maximum number of hex digits of a token, the same as in the relay.
    public static let tokenDigitsMax = 512

    /// - Parameters:
    ///   - device: the relay's id of this device. It stays as long as the app is installed.
    ///   - kept: the value of `kept` from the last run of the process; empty at the first launch.
    public init(device: String, facts: DeviceFacts, kept: [UInt8] = []) {
        self.device = device
        self.facts = facts
        presence = ScenePresence(edge: facts.controlCenter)
        restore(kept)
    }

    /// Takes an event and returns what the app must do.
    ///
    /// - Parameters:
    ///   - now: the time since an origin that stays the same while the process runs.
    ///   - time: the wall clock's time, in RFC 3339.
    public mutating func handle(
        _ event: AppEvent, at now: Duration, time: String
    ) -> [AppAction] {
        switch event {
        case .launched: return launch(at: now)
        case .scene(let phase): return take(phase, at: now, time: time)
        case .touch(let x, let y): presence.touch(x: x, y: y, at: now)
        case .statusBar(let hidden): presence.setStatusBar(hidden: hidden)
        case .networkReturned:
            queue.resume(at: now)
            return queue.isKeyRefused && !isSignedOut ? [.askForKey] : []
        case .startToken(let type, let token): note(token, "start:" + type, at: now, time: time)
        case .widgetToken(let token): note(token, "widget", at: now, time: time)
        case .controlToken(let kind, let token):
            note(token, "control:" + kind, at: now, time: time)
        case .activities(let seen): return reconcile(seen, at: now)
        case .appeared(let card): return appear(card)
        case .updateToken(let card, let token):
            return noteUpdate(token, ofCard: card, at: now, time: time)
        case .word(let card, let word): return report(word, onCard: card, at: now)
        case .facts(let facts):
            if self.facts.controlCenter != facts.controlCenter {
                presence = ScenePresence(edge: facts.controlCenter)
            }
            self.facts = facts
            putDevice(at: now)
        case .signedIn(let user): return signIn(user, at: now)
        case .signedOut: return signOut()
        }
        return []
    }

    /// Takes the outcome of an upload that `queue.next` returned.
    public mutating func answered(
        _ upload: UploadQueue.Upload, _ outcome: UploadQueue.Outcome, at now: Duration
    ) -> [AppAction] {
        let wasRefused = queue.isKeyRefused
        queue.ended(upload, outcome, at: now)
        switch outcome {
        // An answer to a former key says nothing about the newest one and its user.
        case _ where !queue.hasNewestKey(upload): break
        case .answered(200..<300, _): isKeyUntried = false
        case .answered(403, "key-of-former-user"): isUserFormer = true
        case .answered, .unreachable: break
        }
        return queue.isKeyRefused && !wasRefused && !isKeyUntried ? [.askForKey] : []
    }

    // MARK: - Launch and scenes

    private mutating func launch(at now: Duration) -> [AppAction] {
        observed = []
        putDevice(at: now)
        putTokens(at: now)
        return reading
    }

    /// Tokens and cards are read at each launch, and each time the app comes to the foreground. The
    /// app also awaits them, but such a stream may stay silent.
    private var reading: [AppAction] {
        (queue.isKeyRefused ? [.askForKey] : []) + [.readStartTokens, .readActivities]
    }

    private mutating func take(
        _ phase: ScenePresence.Phase, at now: Duration, time: String
    ) -> [AppAction] {
        if phase == .active {
            queue.resume(at: now)
            queue.refresh(at: now)
        }
        presenceBody = presence.body(phase, app: facts.app, time: time, at: now)
        putPresence(at: now)
        return phase == .active ? reading : []
    }

    // MARK: - Users

    private mutating func signIn(_ user: String?, at now: Duration) -> [AppAction] {
        // An app that does not know its user learns only from the relay that it is another one.
        let isAnother = self.user.map { $0 != user } ?? (isUserFormer && user == nil)
        isUserFormer = false
        let ends = isAnother ? leaveCards() : []
        if isAnother { queue.signOut() }
        (self.user, isSignedOut, isKeyUntried) = (user, false, true)
        queue.keyArrived(at: now)
        putDevice(at: now)
        putTokens(at: now)
        if isAnother { putPresence(at: now) }
        return ends
    }

    private mutating func signOut() -> [AppAction] {
        let ends = leaveCards()
        (user, isSignedOut) = (nil, true)
        queue.signOut()
        return ends + [.signOut]
    }

    /// Ends the cards of a former user. The relay ends most of them, but it cannot end a card that
    /// has no update token or whose phone has no network.
    private mutating func leaveCards() -> [AppAction] {
        let ends = cards.map { AppAction.end(card: $0.id) }
        leaving.formUnion(cards.map(\.id))
        cards = []
        return ends
    }

    // MARK: - Cards

    private mutating func reconcile(_ seen: [SeenCard], at now: Duration) -> [AppAction] {
        let there = Set(seen.map(\.id))
        for card in cards where !there.contains(card.id) { lose(card, at: now) }
        leaving.formIntersection(there)
        // The ends are in the order in which the system lists the cards.
        let ends = seen.filter { leaving.contains($0.id) }.map { AppAction.end(card: $0.id) }
        return ends + seen.flatMap { appear($0) }
    }

    private mutating func appear(_ seen: SeenCard) -> [AppAction] {
        guard !leaving.contains(seen.id) else { return [] }
        if isSignedOut {
            // This start was sent for the former user.
            leaving.insert(seen.id)
            return [.end(card: seen.id)]
        }
        if !cards.contains(where: { $0.id == seen.id }) {
            if cards.count >= Self.cardsMax { cards.removeFirst() }
            cards.append(Card(id: seen.id, name: seen.name))
        }
        return observed.insert(seen.id).inserted ? [.observe(card: seen.id)] : []
    }

    /// The card disappeared while the process did not run, so the reason is unknown.
    private mutating func lose(_ card: Card, at now: Duration) {
        forgetToken(card)
        if let path = reportPath(card) {
            leaveDoubles(of: card)
            if card.isOver {
                queue.finish(path)
            } else {
                queue.put(path, .report, CardWord(.dismissed).body(), isLast: true, at: now)
            }
        }
        cards.removeAll { $0.id == card.id }
    }

    private mutating func report(
        _ word: CardWord, onCard id: String, at now: Duration
    ) -> [AppAction] {
        guard let index = cards.firstIndex(where: { $0.id == id }) else { return [] }
        let card = cards[index]
        let path = reportPath(card)
        if word.phase.isOver {
            cards[index].isOver = true
            forgetToken(card)
        }
        if word.phase == .dismissed { cards.remove(at: index) }
        guard let path else { return [] }
        if card.isOver {
            // Only the first end state is reported, so this dismissal is not reported as a swipe.
            if word.phase == .dismissed { queue.finish(path) }
            guard word.phase == .ended else { return [] }
        }
        let isSwipe = word.phase == .dismissed
        queue.put(
            path, .report, word.body(by: isSwipe ? "user" : nil), isLast: isSwipe, at: now)
        return word.phase.isOver ? leaveDoubles(of: card) : []
    }

    /// Ends older cards of the same activity, which exist if it was started more than once.
    @discardableResult
    private mutating func leaveDoubles(of card: Card) -> [AppAction] {
        let older = cards.prefix { $0.id != card.id }.filter {
            $0.name == card.name && $0.name != nil && !$0.isOver
        }
        leaving.formUnion(older.map(\.id))
        cards.removeAll { older.contains($0) }
        return older.map { .end(card: $0.id) }
    }

    /// The path for reports about a card. Nil if the card has no name, or if a newer card has the
    /// same name, because the end of the older card is not the end of the activity.
    private func reportPath(_ card: Card) -> String? {
        guard let name = card.name, cards.last(where: { $0.name == name })?.id == card.id else {
            return nil
        }
        return path("/activities/" + PathSegment.encoded(name))
    }

    // MARK: - Tokens

    private mutating func noteUpdate(
        _ token: String, ofCard id: String, at now: Duration, time: String
    ) -> [AppAction] {
        guard Self.isToken(token), let index = cards.firstIndex(where: { $0.id == id }),
            !cards[index].isOver, let name = cards[index].name
        else { return [] }
        if cards[index].token?.text != token {
            cards[index].token = Token(text: token, observedAt: time)
        }
        // The older card and its token stay in use until the newer card has a token.
        let card = cards[index]
        guard cards.last(where: { $0.name == name && $0.token != nil })?.id == id else { return [] }
        put(card.token, "activity:" + name, at: now)
        return leaveDoubles(of: card)
    }

    /// Notes a token. An empty text is no token: it must not replace one that the relay has.
    private mutating func note(
        _ token: String, _ name: String, at now: Duration, time: String
    ) {
        guard Self.isToken(token) else { return }
        if tokens[name]?.text != token { tokens[name] = Token(text: token, observedAt: time) }
        put(tokens[name], name, at: now)
    }

    private mutating func forgetToken(_ card: Card) {
        guard let name = card.name,
            !cards.contains(where: { $0.id != card.id && $0.name == name && $0.token != nil })
        else { return }
        queue.forget(tokenPath("activity:" + name))
    }

    private mutating func putPresence(at now: Duration) {
        guard let presenceBody else { return }
        queue.put(path("/presence"), .presence, presenceBody, at: now)
    }

    private mutating func putDevice(at now: Duration) {
        queue.put(path(""), .device, facts.body(user: user), at: now)
    }

    private mutating func putTokens(at now: Duration) {
        for (name, token) in tokens.sorted(by: { $0.key < $1.key }) { put(token, name, at: now) }
    }

    private mutating func put(_ token: Token?, _ name: String, at now: Duration) {
        guard let body = token?.body else { return }
        queue.put(tokenPath(name), .token, body, at: now)
    }

    private func tokenPath(_ name: String) -> String {
        let parts = name.split(separator: ":", maxSplits: 1)
        return path(
            "/tokens/" + parts.map { PathSegment.encoded(String($0)) }.joined(separator: ":"))
    }

    private func path(_ rest: String) -> String {
        "/devices/" + PathSegment.encoded(device) + rest
    }

    private static func isToken(_ text: String) -> Bool {
        (1...tokenDigitsMax).contains(text.utf8.count)
    }
}
