import TomboloContract
import TomboloLoop

/// The app on a simulated phone. It turns the phone's effects into events for `AppContract`.
///
/// It plays the part of ActivityKit: it keeps each card's newest state and token, and passes them
/// on once the app observes the card. A careless app makes the mistakes that real apps make.
struct SimulatedApp: Sendable {
    private(set) var contract: AppContract
    private let isCareless: Bool
    private let user: String?
    private var cards: [Int: ObservedCard] = [:]
    /// For each activity, its newest card: the phone issues the token for this card.
    private var newestCards: [String: Int] = [:]
    /// True once a careless app was suspended. From then on an upload that fails is dropped.
    private var isSuspended = false
    /// Paths of uploads that the relay has taken from a careless app.
    private var uploadedPaths: Set<String> = []

    /// The state and token of a card that ActivityKit has for the app.
    private struct ObservedCard {
        var newest: ActivityCard
        var token: String?
        var isObserved = false
    }

    /// `user` is the phone's user, or nil. `tellsBudgetClass` needs a key of scope `operate`.
    init(
        _ configuration: PhoneConfiguration, environment: PushEnvironment, user: String?,
        tellsBudgetClass: Bool
    ) {
        var facts = DeviceFacts(
            app: configuration.bundleID, environment: environment.rawValue, os: configuration.os,
            frequentUpdates: configuration.frequentPushesEnabled)
        facts.timeZone = configuration.timeZone
        facts.controlCenter = .init(rawValue: configuration.controlCenter.rawValue)
        if tellsBudgetClass { facts.budgetClass = configuration.budgetClass.rawValue }
        contract = AppContract(device: configuration.name, facts: facts)
        isCareless = configuration.app == .careless
        self.user = user
    }

    /// The app is launched: it registers the device and reports its presence.
    mutating func introduce(at now: MonotonicInstant, wall: WallInstant) {
        handle(.signedIn(user: user), at: now, wall)
        handle(.launched, at: now, wall)
        handle(.scene(.background), at: now, wall)
    }

    /// Sends everything except the reports again. A presence report keeps its original time, so
    /// that a newer one from another sender wins. A careless app never does this.
    mutating func refresh(at now: MonotonicInstant) {
        guard !isCareless else { return }
        if contract.queue.isKeyRefused { contract.queue.keyArrived(at: Self.time(now)) }
        contract.queue.refresh(at: Self.time(now))
    }

    mutating func next(at now: MonotonicInstant) -> UploadQueue.Upload? {
        contract.queue.next(at: Self.time(now))
    }

    /// When the next upload is due; nil if none waits.
    var deadline: MonotonicInstant? {
        contract.queue.deadline.map { MonotonicInstant(nanoseconds: $0.nanoseconds) }
    }

    mutating func answered(
        _ upload: UploadQueue.Upload, _ outcome: UploadQueue.Outcome, at now: MonotonicInstant
    ) {
        _ = contract.answered(upload, outcome, at: Self.time(now))
        guard case .answered(let status, _) = outcome else { return drop(upload) }
        if status >= 300 { drop(upload) } else if isCareless { uploadedPaths.insert(upload.path) }
        // The reason may be that the key may not set the device's budget class: send without it.
        var facts = contract.facts
        guard upload.kind == .device, [400, 403, 422].contains(status), facts.budgetClass != nil
        else { return }
        facts.budgetClass = nil
        contract.queue.forget(upload.path)
        _ = contract.handle(.facts(facts), at: Self.time(now), time: "")
    }

    private mutating func drop(_ upload: UploadQueue.Upload) {
        if isSuspended, upload.kind != .device { contract.queue.forget(upload.path) }
    }

    mutating func note(_ effect: PhoneEffect, at now: MonotonicInstant, wall: WallInstant) {
        switch effect {
        case .tokenIssued(let token, .start(let type)):
            handle(.startToken(type: type, token), at: now, wall)
        case .tokenIssued(let token, .widget): handle(.widgetToken(token), at: now, wall)
        case .tokenIssued(let token, .control(let kind)):
            handle(.controlToken(kind: kind, token), at: now, wall)
        case .tokenIssued(let token, .update(let id)):
            guard let number = id.flatMap({ newestCards[$0] }) else { return }
            cards[number]?.token = token
            passToken(of: number, at: now, wall)
        case .changed(let card, _), .drawn(let card): takeCard(card, at: now, wall)
        case .touched(let point):
            let (x, y) = (point.x / PhoneGlass.width, point.y / PhoneGlass.height)
            handle(.touch(x: x, y: y), at: now, wall)
        case .statusBar(let hidden): handle(.statusBar(hidden: hidden), at: now, wall)
        case .moved(let place): move(to: place, at: now, wall)
        case .frequentUpdatesAllowed(let allowed):
            var facts = contract.facts
            facts.frequentUpdates = allowed
            handle(.facts(facts), at: now, wall)
        // The system does not tell an app that a token is invalid; it only issues the next one.
        case .tokenRetired, .ignored, .reloaded, .tapped, .tokenIssuedSilently, .widgetFetch,
            .widgetDrawn, .galleryOpened:
            break
        }
    }

    private mutating func move(to place: AppPresence, at now: MonotonicInstant, _ wall: WallInstant)
    {
        if isCareless { isSuspended = place == .background }
        let phase: ScenePresence.Phase =
            switch place {
            case .active: .active
            case .covered, .inactive: .inactive
            case .background: .background
            }
        handle(.scene(phase), at: now, wall)
        guard isCareless else { return }
        for kind in isSuspended ? [UploadQueue.Kind.token, .report] : [] {
            contract.queue.paths(of: kind, waiting: true).forEach { contract.queue.forget($0) }
        }
    }

    // MARK: - ActivityKit

    private mutating func takeCard(
        _ card: ActivityCard, at now: MonotonicInstant, _ wall: WallInstant
    ) {
        let isNew = cards[card.number] == nil
        cards[card.number, default: ObservedCard(newest: card)].newest = card
        if let id = card.activityID { newestCards[id] = max(newestCards[id] ?? 0, card.number) }
        // A careless app does not watch `activityUpdates`, so it does not notice new cards.
        if isNew, !isCareless { handle(.appeared(Self.seen(card)), at: now, wall) }
        passWord(of: card.number, at: now, wall)
        guard card.phase == .dismissed else { return }
        cards[card.number] = nil
        if let id = card.activityID, newestCards[id] == card.number { newestCards[id] = nil }
    }

    private mutating func passWord(of number: Int, at now: MonotonicInstant, _ wall: WallInstant) {
        guard let card = cards[number], card.isObserved else { return }
        // The user deleted the app, so the card was not swiped away.
        if card.newest.phase == .dismissed, !card.newest.isSwiped {
            let others = cards.values.filter { $0.isObserved && $0.newest.number != number }
            return handle(.activities(others.map { Self.seen($0.newest) }), at: now, wall)
        }
        handle(.word(card: "\(number)", Self.word(card.newest)), at: now, wall)
    }

    private mutating func passToken(of number: Int, at now: MonotonicInstant, _ wall: WallInstant) {
        guard let card = cards[number], card.isObserved, let token = card.token else { return }
        handle(.updateToken(card: "\(number)", token), at: now, wall)
    }

    private mutating func handle(
        _ event: AppEvent, at now: MonotonicInstant, _ wall: WallInstant
    ) {
        for action in contract.handle(event, at: Self.time(now), time: wall.rfc3339) {
            switch action {
            case .observe(let id):
                guard let number = Int(id) else { continue }
                cards[number]?.isObserved = true
                passWord(of: number, at: now, wall)
                passToken(of: number, at: now, wall)
            case .readActivities:
                let seen = cards.values.map(\.newest).sorted { $0.number < $1.number }
                handle(.activities(seen.map(Self.seen)), at: now, wall)
            case .readStartTokens: if isCareless { uploadNothing(at: now) }
            // The simulator's key cannot be replaced, and the phone issues its tokens by itself.
            case .askForKey, .signOut, .end: break
            }
        }
    }

    /// A careless app reads `pushToStartToken` when it is nil, and uploads an empty token after the
    /// real one.
    private mutating func uploadNothing(at now: MonotonicInstant) {
        for path in contract.queue.paths(of: .token)
        where path.contains("/tokens/start:") && uploadedPaths.contains(path) {
            contract.queue.put(path, .token, Array(#"{"token":""}"#.utf8), at: Self.time(now))
        }
    }

    private static func seen(_ card: ActivityCard) -> SeenCard {
        SeenCard(id: "\(card.number)", name: card.activityID)
    }

    /// The card's state for the report: what the phone shows, since when, and how often it changed.
    private static func word(_ card: ActivityCard) -> CardWord {
        var word = CardWord(.init(rawValue: card.phase.name) ?? .active)
        (word.receivedState, word.drawnState) = (card.contentState, card.drawnState)
        (word.shownAt, word.firstShownAt) = (card.shownAt.rfc3339, card.firstShownAt.rfc3339)
        word.shownCount = card.shownCount
        word.lastLocalUpdate = card.localUpdateAt?.rfc3339
        return word
    }

    private static func time(_ now: MonotonicInstant) -> Duration { .nanoseconds(now.nanoseconds) }
}
