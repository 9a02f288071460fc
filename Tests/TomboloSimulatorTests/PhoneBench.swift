import TomboloJSON

@testable import TomboloSimulator

/// A phone on virtual time, with what it let happen.
struct PhoneBench {
    static let beginning = WallInstant(seconds: 1_800_000_000)

    var phone: Phone
    var now = Self.beginning
    var startToken = ""
    var updateTokens: [String] = []
    var surfaceTokens: [TokenPurpose: String] = [:]
    var startsOnUnknownChannel = false
    var retiredTokens: [String] = []
    var silentTokens: [String] = []
    var ends: [TokenEnd] = []
    var changes: [(card: ActivityCard, change: IslandChange)] = []
    var pictures: [ActivityCard] = []

    init(_ configure: (inout PhoneConfiguration) -> Void = { _ in }) {
        var configuration = PhoneConfiguration(
            name: "phone-1", bundleID: "com.example.app", startTokenSeed: [1],
            updateTokenSeed: [2])
        configure(&configuration)
        phone = Phone(configuration, at: Self.beginning)
        carryOut(phone.boot())
    }

    /// The same with a card.
    static func started(
        _ configure: (inout PhoneConfiguration) -> Void = { _ in }
    ) -> PhoneBench {
        var bench = PhoneBench(configure)
        bench.start()
        return bench
    }

    /// What the island of the newest card shows, "" where there is none.
    var shown: String {
        phone.cards.last.map { String(decoding: $0.contentState, as: UTF8.self) } ?? ""
    }
    /// Fetches that its widgets have begun.
    var fetches: [Widget] = []
    var reasons: [IgnoredPush.Reason] { phone.ignored.map(\.reason) }

    /// A start at the push-to-start token, right unless said otherwise.
    mutating func start(
        id: String = "cat", image: String = "a", alert: String? = #"{"title":"Go"}"#,
        type: String = "RunnerWidgetAttributes", extra: String = ""
    ) {
        var payload = #"{"aps":{"timestamp":\#(now.seconds),"event":"start""#
        payload += #","attributes-type":"\#(type)""#
        payload += #","attributes":{"name":"Mike","activity_id":"\#(id)"}"#
        payload += #","content-state":{"image":"\#(image)"}"#
        if let alert { payload += #","alert":\#(alert)"# }
        push(to: startToken, payload + extra + "}}")
    }

    /// An update or end at the newest update token.
    mutating func change(
        _ event: String = "update", image: String? = "b", timestamp: String? = nil,
        priority: Int = 5, token: String? = nil, extra: String = ""
    ) {
        var payload = #"{"aps":{"timestamp":\#(timestamp ?? "\(now.seconds)")"#
        payload += #","event":"\#(event)""#
        if let image { payload += #","content-state":{"image":"\#(image)"}"# }
        push(to: token ?? updateTokens.last ?? "", payload + extra + "}}", priority: priority)
    }

    mutating func push(
        to token: String, _ payload: String, priority: Int = 10,
        expiration: PushExpiration = .absent, type: PushType = .liveActivity
    ) {
        var push = AcceptedPush(
            apnsID: "id", token: token, topic: .liveActivity("com.example.app"),
            type: type, priority: priority, expiration: expiration, collapseID: nil,
            payload: [UInt8](payload.utf8), acceptedAt: now)
        push.startsOnUnknownChannel = startsOnUnknownChannel
        carryOut(phone.receive(push, at: now))
    }

    mutating func broadcast(image: String, priority: Int) {
        let payload =
            #"{"aps":{"timestamp":\#(now.seconds),"event":"update","#
            + #""content-state":{"image":"\#(image)"}}}"#
        let broadcast = AcceptedBroadcast(
            channelID: "c2NvcmU=", bundleID: "com.example.app", priority: priority,
            payload: [UInt8](payload.utf8), requestID: "id", isStored: true,
            expiration: .immediate, acceptedAt: now)
        carryOut(phone.receive(broadcast, at: now))
    }

    mutating func pass(_ time: Duration) {
        now = now + time
        carryOut(phone.advance(to: now))
    }

    mutating func setOnline(_ online: Bool) { carryOut(phone.setOnline(online, at: now)) }

    mutating func swipeAway() { carryOut(phone.swipeAway(activityID: "cat", at: now)) }

    mutating func carryOut(_ effects: [PhoneEffect]) {
        for effect in effects {
            switch effect {
            case .tokenIssued(let token, .start): startToken = token
            case .tokenIssued(let token, .update): updateTokens.append(token)
            case .tokenIssued(let token, let surface): surfaceTokens[surface] = token
            case .tokenRetired(let token, _, let end):
                retiredTokens.append(token)
                ends.append(end)
            case .changed(let card, let change): changes.append((card, change))
            case .drawn(let card): pictures.append(card)
            case .tokenIssuedSilently(let token, _): silentTokens.append(token)
            case .widgetFetch(let widget): fetches.append(widget)
            case .ignored, .reloaded, .moved, .touched, .statusBar, .frequentUpdatesAllowed,
                .tapped, .widgetDrawn, .galleryOpened:
                break
            }
        }
    }
}
