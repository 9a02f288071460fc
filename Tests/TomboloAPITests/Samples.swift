import TomboloJSON

@testable import TomboloCore

/// Values that the examples of answers are made of.
enum Samples {
    static let tenant = TenantID(Identifier("main")!)
    static let moment = Instant(rfc3339: "2026-11-20T09:03:00.250Z")!
    static let later = Instant(rfc3339: "2026-11-20T09:03:01Z")!

    static let grant = GrantInForce(
        budgetClass: .standard, grant: Budgets()[.standard])

    /// The log that the answers' cursors belong to.
    static let log = LogID(0x3f9a_01bc)

    static func accepted(_ kind: EventKind) -> Accepted {
        Accepted(
            activity: activity.key.id, seq: 1042, tenantSeq: 1042, factSeq: 87,
            version: kind == .start ? 1 : 2, status: kind == .end ? .ended : .active, kind: kind,
            changed: true, grant: grant,
            decision: nil, destinations: DestinationCounts(sent: 1, deferred: 0), clip: nil,
            plan: nil)
    }

    static let flipbook = Clip(
        path: JSONPointer("/image")!,
        motion: .flipbook(
            Flipbook(frames: [.null, .emptyObject], every: .milliseconds(100))!))

    private static let delivery = DeliveryView(
        version: 1, route: .pushToStart,
        apnsID: APNsID(high: 0xeabe_ae54_14a8_11e5, low: 0xb60b_1697_f925_ec7b), priority: 10,
        result: .accepted,
        took: .milliseconds(41))

    static let activity = ActivityView(
        key: ActivityKey(tenant: tenant, id: Identifier("cat-7")!), number: ActivityNumber(1),
        incarnation: 1, type: "RunnerWidgetAttributes", app: "com.example.app", status: .active,
        version: 1, seq: 1042, tenantSeq: 1042,
        state: JSON(unchecked: Array(#"{"image":"iVBORw0KGgo=","speed":1.50}"#.utf8)),
        relevance: 1, staleAt: later,
        clip: ClipView(
            name: "clip_7", frames: 5, every: .milliseconds(100), path: "/image", playing: true),
        destinations: [showing, waiting])

    private static let showing = DestinationView(
        recipient: .device(Identifier("phone-1")!),
        grant: GrantInForce(budgetClass: .lab, grant: Budgets()[.lab]), route: "push_to_start",
        acknowledgedVersion: 1, phase: "started", lastDelivery: delivery, waiting: nil,
        frames: FrameCounts(
            asked: 100, sent: 99, merged: 0, slowed: 1, noRoute: 0, time: .seconds(10)),
        shown: report, shownMatches: true)

    static let waiting = DestinationView(
        recipient: .device(Identifier("phone-2")!), grant: grant, route: nil,
        acknowledgedVersion: 0, phase: "waiting", lastDelivery: nil,
        waiting: .deferred(until: nil, .startToken),
        frames: FrameCounts(), shown: nil, shownMatches: nil)

    private static let report = PhoneReport(
        phase: .active, by: nil, receivedVersion: nil, drawnVersion: nil, receivedState: nil,
        drawnState: nil, shownAt: later,
        firstShownAt: moment, shownCount: 99, lastLocalUpdate: nil)

    /// A token that Apple refused.
    static func refused(_ name: TokenName) -> TokenStanding {
        TokenStanding(
            name: name, isThere: false,
            refusal: .init(at: moment, answer: "400 BadDeviceToken", environment: .sandbox))
    }

    static let device = DeviceView(
        id: Identifier("phone-1")!,
        registration: DeviceRegistration(
            user: "u42", app: "com.example.app", environment: .sandbox, os: "26.1",
            appVersion: "3.2", timeZone: "Asia/Tokyo", locale: "ja", frequentUpdates: true,
            controlCenter: "top_right", budgetClass: .lab),
        budgetClass: .lab,
        tokens: [
            TokenView(
                name: "start:RunnerWidgetAttributes", token: "00112233445566778899aabbccddeeff",
                registeredAt: moment),
            TokenView(name: "widget", token: "aabb", registeredAt: moment),
        ],
        refused: [refused(.control(kind: "lap"))],
        presence: PresenceView(
            report: PresenceReport(phase: .inactive, cause: .controlCenter, at: moment),
            state: .covered, isInFront: true))
}
