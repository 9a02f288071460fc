import Testing
import TomboloAPI

@testable import TomboloCore

/// Each step of `GET /v1/devices/{device}/check` in each of its states.
@Suite struct DeviceCheckTests {
    private static let now = Samples.moment + .hours(2)

    /// What is changed of the sample's device, which users its keys are bound to, and what a step
    /// says then.
    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var step: DeviceCheck.Name
        var state: DeviceCheck.State
        var boundUsers: [String?] = ["u42"]
        var change: @Sendable (inout DeviceView) -> Void = { _ in }
    }

    private static func card(
        hasToken: Bool, after age: Span = .hours(1), report: PhoneReport? = nil
    ) -> DeviceView.Card {
        DeviceView.Card(
            activity: "cat-7", needsToken: true, hasToken: hasToken, since: now - age,
            report: report)
    }

    private static let start = TokenName.start(type: "RunnerWidgetAttributes")

    private static let rows: [Row] = [
        Row(testDescription: "all is there", step: .registered, state: .done),
        Row(testDescription: "no environment", step: .registered, state: .doubtful) {
            $0.registration.environment = nil
        },
        Row(testDescription: "its user's key", step: .user, state: .done),
        Row(testDescription: "no user", step: .user, state: .notDue) { $0.registration.user = nil },
        Row(
            testDescription: "another user's key", step: .user, state: .lacks,
            boundUsers: ["u42", "u41"]),
        Row(testDescription: "a key of no user", step: .user, state: .lacks, boundUsers: [nil]),
        Row(testDescription: "no key", step: .user, state: .doubtful, boundUsers: []),
        Row(testDescription: "a start token", step: .startToken, state: .done),
        Row(testDescription: "no start token", step: .startToken, state: .lacks) { $0.tokens = [] },
        Row(testDescription: "Live Activities are off", step: .startToken, state: .lacks) {
            $0.registration.activitiesEnabled = false
        },
        Row(testDescription: "a system that starts nothing", step: .startToken, state: .notDue) {
            ($0.tokens, $0.registration.os) = ([], "17.1")
        },
        Row(testDescription: "widgets only", step: .startToken, state: .notDue) {
            $0.tokens[0].name = "widget"
        },
        Row(testDescription: "a refused start token", step: .startToken, state: .lacks) {
            $0.refused = [Samples.refused(start)]
        },
        Row(testDescription: "older than its system", step: .startToken, state: .doubtful) {
            $0.tokens[0].doubtedSince = now
        },
        Row(testDescription: "older than 30 days", step: .startToken, state: .doubtful) {
            $0.tokens[0].registeredAt = now - .hours(24 * 31)
        },
        Row(testDescription: "no card", step: .updateToken, state: .notDue),
        Row(testDescription: "a card with its token", step: .updateToken, state: .done) {
            $0.cards = [card(hasToken: true)]
        },
        Row(testDescription: "a card that just began", step: .updateToken, state: .notDue) {
            $0.cards = [card(hasToken: false, after: .seconds(30))]
        },
        Row(testDescription: "a card without its token", step: .updateToken, state: .lacks) {
            $0.cards = [card(hasToken: false, after: .seconds(31))]
        },
        Row(testDescription: "a refused update token", step: .updateToken, state: .lacks) {
            $0.cards = [card(hasToken: true)]
            $0.refused = [Samples.refused(TokenName("activity:cat-7")!)]
        },
        Row(testDescription: "a presence", step: .report, state: .done),
        Row(testDescription: "no word yet", step: .report, state: .notDue) { $0.presence = nil },
        Row(testDescription: "a silent card", step: .report, state: .lacks) {
            $0.cards = [card(hasToken: true)]
        },
        Row(testDescription: "a card that may be silent", step: .report, state: .done) {
            $0.cards = [card(hasToken: true, after: .minutes(2))]
        },
        Row(testDescription: "frequent updates", step: .frequentUpdates, state: .done),
        Row(testDescription: "none of them", step: .frequentUpdates, state: .doubtful) {
            $0.registration.frequentUpdates = false
        },
        Row(testDescription: "a refused control", step: .widgetToken, state: .lacks),
        Row(testDescription: "a widget's token", step: .widgetToken, state: .done) {
            $0.refused = []
        },
        Row(testDescription: "a timeline and no token", step: .widgetToken, state: .lacks) {
            ($0.refused, $0.tokens, $0.hasTimelines) = ([], [], true)
        },
        Row(testDescription: "no widget", step: .widgetToken, state: .notDue) {
            ($0.refused, $0.tokens) = ([], [])
        },
    ]

    @Test(arguments: rows)
    func `a step has its state`(row: Row) throws {
        var device = Samples.device
        row.change(&device)
        let check = DeviceCheck(of: device.id, device, boundUsers: row.boundUsers, at: Self.now)
        let steps = check.steps.filter { $0.name == row.step }
        #expect(steps.contains { $0.state == row.state }, "\(steps)")
        // What lacks or is in doubt comes with the next step.
        for step in check.steps where step.state == .lacks || step.state == .doubtful {
            #expect(step.next?.isEmpty == false, "\(step)")
        }
        #expect(check.isComplete == !check.steps.contains { $0.state == .lacks })
    }

    @Test func `each step is there, in order, and each of its states has a row`() {
        let device = Samples.device
        let check = DeviceCheck(of: device.id, device, boundUsers: ["u42"], at: Self.now)
        #expect(check.steps.map(\.name) == DeviceCheck.Name.allCases)
        let tried = Dictionary(grouping: Self.rows, by: \.step)
        #expect(Set(tried.keys) == Set(DeviceCheck.Name.allCases))
        let unknown = DeviceCheck(of: device.id, nil, boundUsers: [], at: Self.now)
        #expect(unknown.steps.map(\.state) == [.lacks])
    }
}
