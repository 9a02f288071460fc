import TestSupport
import TomboloAPNs
import TomboloCore
import TomboloJSON
import TomboloLoop
import TomboloRelay

/// A push as its bytes say it.
struct PushContent {
    var timestamp: Int64
    var tenant: String
    var activity: String
    var mark: Int64
    var frame: String?
    /// What a tween moves.
    var value: String?
    var alert: Int64?
    /// Its alert has a sound.
    var rings = false
    var staleDate: Int64?
    var isStale: Bool { staleDate != nil }
    var state: [UInt8]
    /// Of a start: the id that the app finds in its attributes.
    var reference: ActivityReference?
    /// Its alert, and what moves, for people who look at a history.
    var shown: String {
        (alert.map { " alert=\($0)" } ?? "") + (frame.map { " frame=\($0)" } ?? "")
            + (value.map { " value=\($0)" } ?? "")
    }
    /// All frames of a flip-book.
    var bundle: BundleContent?
    var hasUnreadBundle = false
    /// Of a start: what its card is to listen on.
    var channel: String?

    /// It says nothing but that its card goes.
    var isBare = false

    /// Of an end without a state.
    private init(bareAt timestamp: Int64) {
        (self.timestamp, tenant, activity, mark) = (timestamp, "", "", 0)
        (state, isBare) = ([], true)
    }

    init?(_ push: Push) {
        let document = JSON(unchecked: push.payload).document
        if push.event == .end, let aps = document.root["aps"], aps["content-state"] == nil,
            let timestamp = aps["timestamp"]?.integer
        {
            self = PushContent(bareAt: timestamp)
            return
        }
        guard let aps = document.root["aps"], let timestamp = aps["timestamp"]?.integer,
            let state = aps["content-state"], let tenant = state["t"]?.string,
            let activity = state["a"]?.string, let mark = state["n"]?.integer
        else { return nil }
        self.timestamp = timestamp
        self.tenant = tenant
        self.activity = activity
        self.mark = mark
        frame = state["f"]?.string
        value = state["x"].map { String(decoding: $0.raw, as: UTF8.self) }
        alert = aps["alert"]?["title"]?.string.flatMap { Int64($0) }
        rings = aps["alert"]?["sound"] != nil
        self.state = Array(state.raw)
        channel = aps["input-push-channel"]?.string
        staleDate = aps["stale-date"]?.integer
        if let clip = state["clip"] {
            bundle = BundleContent(clip)
            // Or when a keyframe is reached.
            let isKeyframe = clip["path"]?.string == "/x" && clip["reached"]?.double != nil
            hasUnreadBundle = bundle == nil && !isKeyframe
        }
        reference = aps["attributes"]?["activity_id"]?.string.flatMap { ActivityReference($0) }
    }
}

/// The service: it takes pushes from a life of the relay, answers them or not, and delivers them or
/// not.
final class Apple {
    /// A token that was issued once.
    struct Token {
        var phone: Phone
        /// Of the app on it, that asked for the token.
        var installation: Int
        /// Nil for a start token.
        var card: Card?
        /// Since when it is no more, by Apple's clock.
        var goneSince: Instant?
    }

    unowned let world: World
    var tokens: [String: Token] = [:]
    var channels: [String: Broadcast] = [:]
    /// Of widgets and controls.
    var surfaceTokens: [String: SurfaceToken] = [:]
    /// What pushes meet just now.
    private var storm: Fault?
    private var capacity = 1
    /// The relay learns of a change at the end of its turn.
    private var capacitySince = MonotonicInstant(nanoseconds: 0)
    /// By upstream: each tenant's app has connections of its own.
    private var inFlight = [Int](repeating: 0, count: World.upstreamCount)
    /// The relay's provider token, and the `iat` in it.
    private var provider = (token: ProviderToken(), issuedAt: Instant.distantPast)
    /// The `apns-id`s of pushes that may reach their phones.
    private(set) var taken: Set<String> = []

    init(_ world: World) { self.world = world }

    // MARK: Connections

    /// A new life begins: it may use one stream of each upstream.
    func begin() {
        capacity = 1
        inFlight = [Int](repeating: 0, count: World.upstreamCount)
        provider.token = ProviderToken()
    }

    /// Apple takes no token of more than an hour ahead; a relay goes on with the one it has while
    /// that is young.
    private var refusesProvider: Bool {
        if provider.token.isDue(now: world.loop.now, wall: world.clock.now()) {
            provider.token.minted(now: world.loop.now, wall: world.clock.now())
            provider.issuedAt = world.clock.now()
        }
        return provider.issuedAt > world.clock.trueNow() + .hours(1)
    }

    /// It has connected: a thousand, soon.
    func connect(_ life: Life) {
        // Over HTTP/2 a connection is made when it is wanted.
        guard !world.plan.usesWire else { return }
        world.after(world.dice.time(.network, 20...400)) { [self] in
            setCapacity(1_000, life)
        }
    }

    private func setCapacity(_ count: Int, _ life: Life?) {
        guard let life, !life.isDead else { return }
        capacity = count
        capacitySince = world.loop.now
        guard !world.plan.usesWire else {
            world.wires.last?.gate.limitStreams(to: count)
            return
        }
        world.note(.capacity, who: -1, Int64(count))
        for upstream in 0..<World.upstreamCount {
            life.relay?.capacityChanged(UpstreamNumber(Int32(upstream)), to: count)
        }
    }

    /// Changes the weather now and then until the heal.
    func changeWeather() {
        guard !world.isHealed else { return }
        let storms: [Fault] = [
            .unavailable, .throttled, .keyRefused, .silence, .unknownOutcomes, .notSent,
        ]
        let possible = storms.filter { world.faults.contains(FaultSet($0)) }
        storm = nil
        if !possible.isEmpty, world.dice.happens(.apple, oneIn: 2) {
            storm = world.dice.pick(.apple, possible)
        }
        if world.strikes(.narrowLane, .apple, oneIn: 2) {
            setCapacity(world.dice.pick(.apple, [0, 1, 1, 2, 1_000]), world.life)
        }
        world.after(world.dice.time(.apple, 1_000...90_000)) { [self] in changeWeather() }
    }

    func heal() {
        storm = nil
        setCapacity(1_000, world.life)
    }

    // MARK: Taking

    /// A push arrives from the relay, without HTTP/2 between them.
    ///
    /// - Parameter isRepetition: the relay knows nothing of it: it takes no stream of the relay's.
    func take(_ push: Push, _ life: Life, isRepetition: Bool = false) {
        guard admit(push, life) else { return }
        let upstream = Int(push.upstream.rawValue)
        if inFlight[upstream] >= capacity, !isRepetition, world.loop.now > capacitySince {
            world.violated(.streams, "\(inFlight[upstream] + 1) in flight of \(capacity)")
        }
        let streams = isRepetition ? 0 : 1
        inFlight[upstream] += streams
        let sentAt = world.loop.now
        decide(push, life) { [self] result in
            guard !life.isDead else { return }
            inFlight[upstream] -= streams
            let took = Span(nanoseconds: (world.loop.now - sentAt).nanoseconds)
            told(PushOutcome(push: push.id, result: result, took: took), push, life)
        }
    }

    /// Looks at a push as the relay hands it to its sender. False: it is for nobody.
    func admit(_ push: Push, _ life: Life) -> Bool {
        if push.surface == .channel { return admitBroadcast(push, life) }
        if push.isReload { return admitReload(push, life) }
        if let end = BareEnd(push), let token = tokens[push.token], let key = key(of: push) {
            world.checkBareEnd(push, end, token, key, life)
            return true
        }
        guard let content = PushContent(push), let token = tokens[push.token] else {
            world.violated(.tenants, "a push that is for nobody: \(push.token)")
            return false
        }
        guard let key = key(of: push) else {
            world.violated(.tenants, "a start without the activity's id")
            return false
        }
        world.checkPush(push, content, token, key, life)
        world.note(
            .push, who: token.phone.number, content.mark, Int64(push.priority),
            "\(push.event) \(key.reference.text) ts=\(content.timestamp - 1_800_000_000)"
                + "\(content.shown) life=\(life.number)")
        return true
    }

    /// The relay has been told what became of a push.
    func told(_ outcome: PushOutcome, _ push: Push, _ life: Life) {
        if push.isReload { return toldReload(outcome, push, life) }
        guard let key = key(of: push) else { return }
        let fate: Outbox.Fate =
            switch outcome.result {
            case .accepted: .accepted
            case .rejected, .notSent: .refused
            case .unknown: .unknown
            }
        // A wrong token troubles nobody else.
        if fate != .accepted, tokens[push.token]?.phone.isWrong != true { world.trouble() }
        if case .rejected(_, _, .tokenGone, _) = outcome.result {
            channels[push.token]?.toldGoneIn = life.number
        }
        world.outboxes[key]?.answered(push.id, life: life.number, fate, at: world.loop.now)
        world.note(.outcome, who: key.phone, 0, 0, "\(key.reference.text) \(outcome.result)")
        if let outcome = world.seam.outcome(outcome, of: push, life) {
            life.relay?.pushEnded(outcome)
        }
    }

    /// What the service makes of a push, and what it answers, after a while.
    func decide(_ push: Push, _ life: Life, _ reply: @escaping (PushResult) -> Void) {
        if push.isReload {
            decideReload(push, reply)
        } else if let token = tokens[push.token] {
            decide(push, token, reply)
        } else if channels[push.token]?.isDeleted == true {
            let result = PushResult.rejected(
                status: 400, reason: "ChannelNotRegistered", reaches: .tokenGone,
                tokenGoneSince: nil)
            answer(result, after: world.dice.time(.network, 5...200), reply)
        } else {
            weather(push, world.dice.time(.network, 5...200), reply)
        }
    }

    private func decide(
        _ push: Push, _ token: Token, _ reply: @escaping (PushResult) -> Void
    ) {
        var quick = world.dice.time(.network, 5...200)
        guard !token.phone.isWrong else {
            let result = PushResult.rejected(
                status: 400, reason: "BadDeviceToken", reaches: .tokenMisplaced,
                tokenGoneSince: nil)
            return answer(result, after: quick, reply)
        }
        if let since = token.goneSince ?? rotated(push, token) {
            // The app may have told of its new token by then.
            if world.strikes(.rotation, .network, oneIn: 2) {
                quick = world.dice.time(.network, 500...9_000)
            }
            let result = PushResult.rejected(
                status: 410, reason: "Unregistered", reaches: .tokenGone, tokenGoneSince: since)
            answer(result, after: quick, reply)
            return
        }
        if world.strikes(.refused, .apple, oneIn: 50) {
            if push.event != .start { token.card?.hasLostUpdate = true }
            token.card?.wasRefused = true
            if push.event == .end { token.card?.hasLostEnd = true }
            let result = PushResult.rejected(
                status: 400, reason: "BadMessageId", reaches: .push, tokenGoneSince: nil)
            answer(result, after: quick, reply)
            return
        }
        weather(push, quick, reply)
    }

    /// A card may get another token while a push to the old one is on its way. Answers since when
    /// the old one is gone.
    private func rotated(_ push: Push, _ token: Token) -> Instant? {
        guard push.event == .update, let card = token.card, card.token == push.token,
            !card.isDismissed, world.strikes(.rotation, .network, oneIn: 20)
        else { return nil }
        world.note(.rotate, who: token.phone.number, 0, 1, card.reference.text)
        world.issueToken(card, token.phone)
        return tokens[push.token]?.goneSince
    }

    /// What becomes of a push that is in order.
    func weather(
        _ push: Push, _ quick: Duration, _ reply: @escaping (PushResult) -> Void
    ) {
        if refusesProvider {
            // Its upstream is closed, for longer each time.
            world.trouble(for: .seconds(1_500))
            let result = PushResult.rejected(
                status: 403, reason: "InvalidProviderToken", reaches: .providerToken,
                tokenGoneSince: nil)
            return answer(result, after: quick, reply)
        }
        guard let storm, !world.isHealed, !world.dice.happens(.apple, oneIn: 4) else {
            deliver(push)
            answer(.accepted, after: quick, reply)
            return
        }
        func refuse(_ status: Int, _ reason: String, _ reaches: BlastRadius) {
            let result = PushResult.rejected(
                status: status, reason: reason, reaches: reaches, tokenGoneSince: nil)
            answer(result, after: quick, reply)
        }
        switch storm {
        case .unavailable: refuse(503, "ServiceUnavailable", .upstream)
        case .throttled: refuse(429, "TooManyRequests", .tokenBackOff)
        case .keyRefused: refuse(403, "ExpiredProviderToken", .providerToken)
        case .notSent: answer(.notSent(reason: "no connection"), after: quick, reply)
        case .unknownOutcomes:
            if world.dice.happens(.apple, oneIn: 2) { deliver(push) }
            answer(.unknown(reason: "the connection broke"), after: quick, reply)
        default:
            let late = world.dice.time(.network, 500...60_000)
            let isTaken = world.dice.happens(.apple, oneIn: 2)
            if isTaken || world.dice.happens(.apple, oneIn: 2) { deliver(push) }
            answer(
                isTaken ? .accepted : .unknown(reason: "no answer for long"), after: late, reply)
        }
    }

    func answer(
        _ result: PushResult, after delay: Duration, _ reply: @escaping (PushResult) -> Void
    ) {
        world.after(delay) { reply(result) }
    }

    /// The card that a push is for.
    func key(of push: Push) -> CardKey? {
        if push.surface == .channel { return keyOfBroadcast(push) }
        guard let token = tokens[push.token],
            let reference = token.card?.reference ?? PushContent(push)?.reference
        else { return nil }
        return CardKey(
            phone: token.phone.number, installation: token.installation, reference: reference)
    }

    // MARK: Delivering

    private func deliver(_ push: Push) {
        if world.plan.usesWire { taken.insert(push.apnsID) }
        if push.isReload { return deliverReload(push) }
        // A phone drops an update that is a minute old.
        let age = PushContent(push).map { world.clock.trueNow() - Instant(seconds: $0.timestamp) }
        if push.event == .update, let age, age > .minutes(1) { return }
        guard let token = tokens[push.token] else { return deliverBroadcast(push) }
        var delay = world.dice.time(.network, 10...300)
        if world.strikes(.reordered, .network, oneIn: 4) {
            delay = world.dice.time(.network, 300...8_000)
        }
        world.after(delay) { [self] in
            guard token.installation == token.phone.installation else { return }
            guard !token.phone.isOnline else {
                world.receive(push, token.phone, token.card)
                return
            }
            guard push.expiration > 0 else {
                lose(push)
                return
            }
            if let lost = token.phone.stored { lose(lost) }
            token.phone.stored = push
        }
    }

    /// Another push has taken its place, or it was not to be kept.
    private func lose(_ push: Push) {
        guard let card = tokens[push.token]?.card else { return }
        card.hasLostUpdate = true
        if push.event == .end { card.hasLostEnd = true }
        world.note(.lost, who: tokens[push.token]?.phone.number ?? 0)
    }
}

/// One life's way to Apple.
final class Sender: PushSender, @unchecked Sendable {
    // Sendable: used on the virtual loop's thread only.
    private unowned let world: World
    private unowned let life: Life

    init(_ world: World, _ life: Life) {
        self.world = world
        self.life = life
    }

    func send(_ push: Push) {
        world.crashInTurn()
        guard !life.isDead else { return }
        world.seam.pass(push, life) { [self] in world.apple.take($0, life) }
        world.crashInTurn()
    }
}
