import Testing

@testable import TomboloSimulator

@Suite struct PhoneReloadTests {
    private static let changed = #"{"aps":{"content-changed":true}}"#
    private static let woken = #"{"aps":{"content-available":1}}"#

    @Test func `widgets and each control have a token, and a push reloads what it is for`() {
        var bench = PhoneBench { $0.controlKinds = ["Start", "Stop"] }
        let stop = TokenPurpose.control(kind: "Stop")
        #expect(Set(bench.surfaceTokens.values).count == 3)
        bench.push(to: bench.surfaceTokens[.widget] ?? "", Self.changed, type: .widgets)
        bench.push(to: bench.surfaceTokens[stop] ?? "", Self.changed, type: .controls)
        bench.push(to: bench.surfaceTokens[stop] ?? "", Self.changed, type: .controls)
        #expect(bench.phone.reloads == [.widget: 1, stop: 2])
        bench.push(to: bench.surfaceTokens[stop] ?? "", "{}", type: .controls)
        bench.push(to: bench.surfaceTokens[stop] ?? "", Self.woken, type: .controls)
        #expect(bench.reasons == [.unreadable, .unreadable])
    }

    @Test func `before system 26 the app is woken for its widgets, before 18 it has no controls`() {
        var bench = PhoneBench { $0.os = "17.4" }
        #expect(Set(bench.surfaceTokens.keys) == [.widget])
        #expect(bench.phone.configuration.topic(of: .widget).suffix == "")
        bench.push(to: bench.surfaceTokens[.widget] ?? "", Self.woken, type: .background)
        #expect(bench.phone.reloads == [.widget: 1])
        let new = PhoneBench()
        #expect(new.phone.configuration.topic(of: .widget).suffix == ".push-type.widgets")
    }

    @Test func `reloads have a budget of their own, and a lab has none`() {
        for (budgetClass, expected) in [(PhoneConfiguration.BudgetClass.standard, 3), (.lab, 5)] {
            var bench = PhoneBench {
                $0.budgetClass = budgetClass
                $0.reloadBudget = .init(depth: 2, perHour: 1)
            }
            for _ in 0..<4 {
                bench.push(to: bench.surfaceTokens[.widget] ?? "", Self.changed, type: .widgets)
            }
            bench.pass(.seconds(3_600))
            bench.push(to: bench.surfaceTokens[.widget] ?? "", Self.changed, type: .widgets)
            #expect(bench.phone.reloads[.widget] == expected)
        }
    }
}
