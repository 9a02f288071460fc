import TomboloJSON

@testable import TomboloContract

/// The life of one app on virtual time: the system with its cards and tokens, the app's process,
/// the network, and what the relay has.
struct AppLife {
    /// Mistakes of real apps, made between the system and the contract. Each row of the table is
    /// shown to fail with one of them.
    enum Mistake: CaseIterable {
        case ignoresActivityUpdates, ignoresActivities, ignoresStartToken, uploadsEmptyTokens
        case forgetsAtRelaunch, givesUpAtFirst, uploadsOldestFirst, reportsEveryDismissal
        case endsNothing, keepsKey, forgetsTokensAtRelaunch
    }

    struct SystemCard {
        var name: String
        var token: String?
        var phase = CardWord.Phase.active
        var user: String?
    }

    var mistake: Mistake?
    private(set) var contract: AppContract
    private(set) var now = Duration.zero
    private var launchedAt = Duration.zero
    private var saved: [UInt8] = []
    private(set) var isRunning = false
    var hasNetwork = true
    var os = "26.6"
    /// What `pushToStartTokenUpdates` yields: nothing where the stream is silent.
    var isStreamSilent = false
    private(set) var startToken: String?
    /// The property `pushToStartToken` is nil, although there is a token.
    var isPropertyNil = false
    /// The newest start token that the app has seen.
    private(set) var seenStartToken: String?
    private(set) var cards: [String: SystemCard] = [:]
    private var isWatching = false
    private(set) var observers: [String: Int] = [:]
    /// The relay's resources by path, with the body that it took last.
    private(set) var relay: [String: String] = [:]
    /// The bodies that the relay took, in their order.
    private(set) var uploads: [(path: String, body: String)] = []
    /// The user whose key the app has, and the user whose device it is.
    private(set) var keyUser: String? = "u42"
    private(set) var user: String? = "u42"
    private(set) var keysAskedFor = 0

    init(_ mistake: Mistake? = nil) {
        self.mistake = mistake
        contract = AppContract(device: "phone-9", facts: Self.facts("26.6"))
    }

    private static func facts(_ os: String) -> DeviceFacts {
        DeviceFacts(
            app: "com.example.app", environment: "production", os: os, frequentUpdates: true)
    }

    // MARK: - The process

    /// The system launches the app in the background, or its user does.
    mutating func launch(inFront: Bool = false) {
        if !isRunning {
            isRunning = true
            (isWatching, observers, launchedAt) = (false, [:], now)
            if mistake == .forgetsTokensAtRelaunch { saved = Self.withoutTokens(saved) }
            let kept = mistake == .forgetsAtRelaunch ? [] : saved
            contract = AppContract(device: "phone-9", facts: Self.facts(os), kept: kept)
            if let keyUser { tell(.signedIn(user: keyUser)) }
            tell(.launched)
        }
        tell(.scene(inFront ? .active : .background))
        pass(.zero)
    }

    private static func withoutTokens(_ kept: [UInt8]) -> [UInt8] {
        if kept.isEmpty { return kept }
        var text = JSON(unchecked: kept)
        for name in ["tokens", "queue"] {
            text =
                text.setting(JSONPointer(tokens: [name]), to: JSON(unchecked: [0x5b, 0x5d])) ?? text
        }
        return text.bytes
    }

    /// The process ends without a word, as by a force-quit or under memory pressure.
    mutating func terminate() {
        // The app has written it after the last event.
        if isRunning { saved = contract.kept }
        isRunning = false
    }

    /// Time passes, and what is due is sent.
    mutating func pass(_ time: Duration) {
        let end = now + time
        while isRunning {
            if let upload = contract.queue.next(at: now - launchedAt) {
                send(upload)
            } else if let due = contract.queue.deadline, launchedAt + due <= end {
                now = max(now, launchedAt + due)
            } else {
                break
            }
        }
        now = end
    }

    /// The network is back, and ten seconds pass.
    mutating func findNetwork() {
        hasNetwork = true
        if isRunning, mistake != .givesUpAtFirst { tell(.networkReturned) }
        pass(.seconds(10))
    }

    private mutating func send(_ upload: UploadQueue.Upload) {
        let body = String(decoding: upload.body, as: UTF8.self)
        var outcome = UploadQueue.Outcome.answered(status: 204)
        if keyUser == nil { outcome = .answered(status: 401) }
        if keyUser != user {
            outcome = .answered(status: 403, code: "key-of-former-user")
        } else if upload.kind != .device, relay["/devices/phone-9"] == nil {
            // The device has no user before its own PUT.
            outcome = .answered(status: 403, code: "key-not-signed-in")
        }
        if !hasNetwork { outcome = .unreachable }
        if case .answered(204, _) = outcome {
            relay[upload.path] = body
            uploads.append((upload.path, body))
            endFormerCards()
        } else if mistake == .givesUpAtFirst, upload.kind == .token {
            outcome = .answered(status: 204)
        }
        carryOut(contract.answered(upload, outcome, at: now - launchedAt))
    }

    // MARK: - ActivityKit

    /// The system hands out another push-to-start token.
    mutating func issueStartToken(_ token: String) {
        startToken = token
        if isRunning, !isStreamSilent { tell(.startToken(type: "OrderAttributes", token)) }
    }

    /// A push starts a card. The system wakes the app, unless its user has closed it.
    mutating func pushStart(_ id: String, name: String, token: String?, wakes: Bool = true) {
        cards[id] = SystemCard(name: name, token: token, user: user)
        let wasWatching = isRunning && isWatching
        if wakes, !isRunning { launch() }
        // A process that begins later finds the card only in `Activity.activities`.
        if wasWatching, mistake != .ignoresActivityUpdates {
            tell(.appeared(SeenCard(id: id, name: name)))
        }
        pass(.zero)
    }

    /// The system gives a card an update token, because of "Allow" or a rotation.
    mutating func issueToken(_ token: String, of id: String) {
        cards[id]?.token = token
        observed(id) { $0.tell(.updateToken(card: id, token)) }
        pass(.zero)
    }

    mutating func change(_ id: String, to phase: CardWord.Phase, seen: Bool = true) {
        // An ended card can only be dismissed.
        guard let card = cards[id], !card.phase.isOver || phase == .dismissed else { return }
        cards[id]?.phase = phase
        if seen { observed(id) { $0.tell(.word(card: id, CardWord(phase))) } }
        if phase == .dismissed { cards[id] = nil }
        pass(.seconds(2))
    }

    private func isObserved(_ id: String) -> Bool { isRunning && observers[id] != nil }

    private mutating func observed(_ id: String, _ body: (inout AppLife) -> Void) {
        if isObserved(id) { body(&self) }
    }

    // MARK: - Users

    /// The user signs out in the app: its backend deletes the key.
    mutating func signOut() {
        tell(.signedOut)
        pass(.seconds(1))
    }

    /// Another user signs in. In the app, or by the backend, of which the app does not know.
    mutating func signIn(_ next: String, inApp: Bool = true) {
        if next != user {
            user = next
            forgetUser()
        }
        relay["/devices/phone-9"] = nil
        if inApp {
            keyUser = next
            tell(.signedIn(user: next))
        }
        pass(.seconds(1))
    }

    /// The relay ends the cards of a user whose device it is no more.
    private mutating func forgetUser() {
        endFormerCards()
        relay = relay.filter {
            !$0.key.contains("/activities/") && !$0.key.contains("/tokens/activity:")
        }
    }

    /// The relay ends a card that is not of the device's user, once it has the card's token.
    private mutating func endFormerCards() {
        for (id, card) in cards.sorted(by: { $0.key < $1.key })
        where card.user != user && !card.phase.isOver && card.token != nil
            && token("activity:" + card.name) == card.token
        {
            cards[id]?.phase = .ended
            observed(id) { $0.tell(.word(card: id, CardWord(.ended))) }
        }
    }

    // MARK: - The contract

    mutating func tell(_ event: AppEvent) {
        if case .startToken(_, let token) = event, !token.isEmpty { seenStartToken = token }
        carryOut(contract.handle(event, at: now - launchedAt, time: "\(now)"))
        if mistake == .reportsEveryDismissal, case .word(let id, let word) = event,
            word.phase == .dismissed, let name = cards[id]?.name
        {
            let path = "/devices/phone-9/activities/" + name
            contract.queue.put(path, .report, word.body(by: "user"), at: now - launchedAt)
        }
    }

    private mutating func carryOut(_ actions: [AppAction]) {
        for action in actions { carryOut(action) }
    }

    private mutating func carryOut(_ action: AppAction) {
        switch action {
        case .readStartTokens:
            guard mistake != .ignoresStartToken else { return }
            let startToken = isPropertyNil ? nil : startToken
            if mistake == .uploadsEmptyTokens, startToken == nil {
                let path = "/devices/phone-9/tokens/start:OrderAttributes"
                let body = Array(#"{"token":""}"#.utf8)
                return contract.queue.put(path, .token, body, at: now - launchedAt)
            }
            tell(.startToken(type: "OrderAttributes", startToken ?? ""))
        case .readActivities:
            isWatching = true
            guard mistake != .ignoresActivities else { return }
            let seen = cards.sorted { $0.key < $1.key }
            tell(.activities(seen.map { SeenCard(id: $0.key, name: $0.value.name) }))
        case .observe(let id):
            observers[id, default: 0] += 1
            guard let card = cards[id] else { return }
            tell(.word(card: id, CardWord(card.phase)))
            if let token = card.token { tell(.updateToken(card: id, token)) }
        case .end(let id):
            if mistake != .endsNothing { cards[id] = nil }
        case .askForKey:
            keysAskedFor += 1
            guard mistake != .keepsKey, let user, keyUser != user else { return }
            keyUser = user
            tell(.signedIn(user: user))
        case .signOut:
            (keyUser, user) = (nil, nil)
        }
    }

    // MARK: - What must hold

    func token(_ name: String) -> String? {
        guard let body = relay["/devices/phone-9/tokens/" + name] else { return nil }
        return (try? JSONDocument(Array(body.utf8)))?.root["token"]?.string  // nil: no token
    }

    func words(_ name: String) -> [String] {
        uploads.filter { $0.path == "/devices/phone-9/activities/" + name }.map(\.body)
    }

    /// Cards that are doubled or orphaned, tokens that the relay does not know, and cards with more
    /// than one observer.
    var faults: [String] {
        var faults: [String] = []
        let live = cards.filter { !$0.value.phase.isOver }
        for (name, same) in Dictionary(grouping: live.values, by: \.name) where same.count > 1 {
            faults.append("\(name) is doubled")
        }
        for (id, card) in live {
            if observers[id] != 1 { faults.append("\(id) has \(observers[id] ?? 0) observers") }
            if card.user != user { faults.append("\(id) is a card of a former user") }
            if let token = card.token, self.token("activity:" + card.name) != token {
                faults.append("the relay does not know the token of \(id)")
            }
        }
        let needed = isPropertyNil ? seenStartToken : startToken
        if let needed, token("start:OrderAttributes") != needed {
            faults.append("the relay does not know the start token")
        }
        for (path, body) in relay where path.contains("/activities/") && !body.contains("miss") {
            let name = String(path.split(separator: "/").last ?? "")
            let isThere = cards.values.contains { $0.name == name && !$0.phase.isOver }
            if !isThere, !body.contains("ended") { faults.append("\(name) is orphaned") }
        }
        if uploads.contains(where: { $0.body == #"{"token":""}"# }) {
            faults.append("an empty token was uploaded")
        }
        return faults.sorted()
    }
}
