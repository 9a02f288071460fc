import Testing
import TomboloLoop

@testable import TomboloSimulator

@Suite struct PhoneReportsTests {
    private let now = MonotonicInstant(nanoseconds: 0)

    private func reports(_ budgetClass: Bool = true) -> PhoneReports {
        var configuration = PhoneConfiguration(
            name: "phone-2", bundleID: "com.example.app", startTokenSeed: [1],
            updateTokenSeed: [2])
        configuration.budgetClass = .frequent
        configuration.frequentPushesEnabled = true
        return PhoneReports(
            configuration: configuration, environment: .sandbox, user: "u42",
            tellsBudgetClass: budgetClass)
    }

    private func sent(_ reports: inout PhoneReports) -> [String] {
        var sent: [String] = []
        while let upload = reports.queue.next(at: now) {
            sent.append(upload.path + " " + String(decoding: upload.body, as: UTF8.self))
            reports.queue.ended(upload, .answered(status: 200), at: now)
        }
        return sent
    }

    @Test func `a phone introduces itself in the words of the relay's API`() {
        var reports = reports()
        reports.introduce(at: now, wall: PhoneBench.beginning)
        reports.note(
            .tokenIssued("a1f0", .start(attributesType: "RunnerWidgetAttributes")), at: now,
            wall: PhoneBench.beginning)
        let head = #"{"app":"com.example.app","environment":"sandbox","user":"u42","os":"26.1","#
        #expect(
            sent(&reports) == [
                "/devices/phone-2 " + head
                    + #""frequent_updates":true,"control_center":"bottom","budget_class":"frequent"}"#,
                "/devices/phone-2/tokens/start:RunnerWidgetAttributes "
                    + #"{"token":"a1f0","observed_at":"2027-01-15T08:00:00.000000Z"}"#,
                "/devices/phone-2/presence "
                    + #"{"app":"com.example.app","phase":"background","#
                    + #""at":"2027-01-15T08:00:00.000000Z"}"#,
            ])
    }

    @Test func `the budget class is given up where the key may not set it`() {
        var reports = reports()
        reports.introduce(at: now, wall: PhoneBench.beginning)
        let upload = reports.queue.next(at: now)
        #expect(upload?.kind == .device)
        if let upload { reports.queue.ended(upload, .answered(status: 403), at: now) }
        let attempts = [reports.giveUpBudgetClass(at: now), reports.giveUpBudgetClass(at: now)]
        #expect(attempts == [true, false])
        #expect(sent(&reports)[0].hasSuffix(#""frequent_updates":true,"control_center":"bottom"}"#))
    }

    @Test func `the phone's word names the newest card and what it shows`() {
        var bench = PhoneBench()
        var reports = reports()
        bench.start(id: "cat 7")
        bench.start(id: "cat 7", image: "b")
        for (card, change) in bench.changes.reversed() {
            reports.note(.changed(card, change), at: now, wall: bench.now)
        }
        #expect(
            sent(&reports) == [
                "/devices/phone-2/activities/cat%207 "
                    + #"{"phase":"active","received_state":{"image":"b"},"#
                    + #""drawn_state":{"image":"b"},"#
                    + #""shown_at":"2027-01-15T08:00:00.000000Z","shown_count":1,"#
                    + #""first_shown_at":"2027-01-15T08:00:00.000000Z"}"#
            ])
    }

    @Test func `what has no id cannot be told, a dead token is not`() {
        var reports = reports()
        let wall = PhoneBench.beginning
        reports.note(.tokenIssued("aa", .update(activityID: nil)), at: now, wall: wall)
        reports.note(.tokenIssued("bb", .update(activityID: "cat")), at: now, wall: wall)
        let end = TokenEnd(reason: .unregistered, at: wall)
        reports.note(.tokenRetired("bb", .update(activityID: "cat"), end), at: now, wall: wall)
        #expect(sent(&reports).isEmpty)
    }
}
