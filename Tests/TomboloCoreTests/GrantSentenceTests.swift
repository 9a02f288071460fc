import CoreRig
import Testing
import TomboloJSON

@testable import TomboloCore

/// What destinations may be sent, and who decides it: the words of the pacing rules, clause by
/// clause.
@Suite struct GrantSentenceTests {
    @Test func `low goes at 5 and an echo too in lab`() {
        var rig = Rig.running(.lab, until: 10)
        rig.update(lap: 1, .low, until: 20)
        rig.update(lap: 2, until: 700)
        #expect(rig.pushes.dropFirst().map(\.push.priority) == [5, 10, 5], "\(rig.line())")
    }

    @Test func `a start never goes at 5`() {
        var rig = Rig.phone()
        for id in ["a", "b", "c", "d"] {
            rig.start(id)
            rig.token("activity:\(id)", "bb0\(id)")
        }
        for lap in 1...3 {
            for id in ["a", "b", "c", "d"] {
                rig.advance(to: Double(lap) * 20)
                rig.command(.update, #"{"state":{"lap":\#(lap)},"alert":{"title":"t"}}"#, id: id)
            }
        }
        rig.advance(to: 70)
        rig.start("e")
        rig.advance(to: 600)
        let last = rig.pushes.last
        #expect(last?.push.event == .start)
        #expect(last?.push.priority == 10)
        // The device's bucket holds a token more each 90 s.
        #expect(last.map { Rig.text($0.at) } == "92")
    }

    @Test func `a class that is for simulators is none of Apple's`() {
        let rig = Rig.running(.lab)
        let recovery = rig.recovery()
        var next = Rig { $0.apps[0].allowsLab = false }
        next.now = rig.now
        next.recover(recovery)
        let force = next.core.budgets(
            of: Rig.tenant, activity: nil, device: nil, limit: 1, now: next.now)
        #expect(force.first?.grant.budgetClass == .standard)
    }

    @Test func `a token that Apple calls dead again and again is dead`() {
        var rig = Rig.running(until: 10)
        rig.verdict = { _ in
            .refusal(410, "Unregistered", .tokenGone, since: Rig.epoch - .minutes(1))
        }
        rig.update(lap: 1, until: 7_200)
        #expect(rig.view()?.destinations.first?.phase == "unreachable")
        #expect(rig.pushes.count < 16)
    }

    @Test func `an old answer of Apple does not count soon after the registration`() {
        for (end, phase) in [(500.0, "live"), (1_200, "unreachable")] {
            var rig = Rig.running(until: 10)
            rig.verdict = { _ in
                .refusal(410, "Unregistered", .tokenGone, since: Rig.epoch - .minutes(1))
            }
            rig.update(lap: 1, until: end)
            #expect(rig.view()?.destinations.first?.phase == phase)
        }
    }

    @Test func `the classes are as the table says`() {
        let budgets = Budgets()
        let rows = BudgetClass.allCases.map { name in
            let grant = budgets[name]
            let hour = grant.perHour.map { "\($0)" } ?? "none"
            return "\(name.name) \(grant.spacing.text) \(grant.burst) \(hour) \(grant.reserve) "
                + grant.lowPrioritySpacing.text
        }
        #expect(
            rows == [
                "standard 1s 4 10.0 1 15s", "frequent 1s 20 200.0 4 5s", "lab 0s 20 none 0 0s",
                "start 0s 10 0.5 0 0s", "channel 1s 4 10.0 1 5s", "widget 5m 4 1.5 0 0s",
                "control 1s 4 60.0 0 0s",
            ])
        #expect(Limits().deviceGrantFactor == 4)
    }

    /// Device, its frequent updates, its type's class: what is in force, and what a dry run and the
    /// answer tell of it.
    @Test(
        arguments: [
            (nil, true, "frequent", "frequent"), (nil, false, "frequent", "standard"),
            ("frequent", false, nil, "standard"), ("frequent", true, nil, "frequent"),
            ("standard", true, "frequent", "standard"), ("frequent", true, "standard", "frequent"),
            (nil, true, nil, "standard"), (nil, false, "lab", "lab"),
        ] as [(String?, Bool, String?, String)])
    func `an operator's class goes before the type's, and needs frequent updates`(
        own: String?, frequent: Bool, type: String?, expected: String
    ) throws {
        var rig = Rig()
        if let type { rig.type(#"{"budget_class":"\#(type)"}"#) }
        let budgetClass = own.map { #","budget_class":"\#($0)""# } ?? ""
        let fields = #"{"frequent_updates":\#(frequent)\#(budgetClass)}"#
        rig.tell(.register(try DeviceRegistration(reading: Rig.json(fields))))
        rig.token("start:Runner", "aa")
        let start = #"{"type":"Runner","audience":{"device":"phone"},"state":{}}"#
        let dry = try rig.core.dryRun(Command(.start, start), now: rig.now)
        #expect(dry.routes.first?.grant.budgetClass.name == expected)
        rig.command(.start, start)
        #expect(rig.lastAccepted?.grant?.budgetClass.name == expected)
        #expect(rig.view()?.destinations.first?.grant.budgetClass.name == expected)
    }

    @Test func `a dry run on a channel tells the channel's grant, and no device's holds it`() throws
    {
        var rig = Rig()
        rig.channel("match", "ch1")
        let start = #"{"type":"Runner","audience":{"channel":"match"},"state":{"lap":0}}"#
        let dry = try rig.core.dryRun(Command(.start, start), now: rig.now)
        #expect(dry.routes.map(\.grant.budgetClass) == [.channel])
        rig.command(.start, start)
        let view = rig.core.budgets(
            of: Rig.tenant, activity: nil, device: nil, limit: 9, now: rig.now)
        #expect(view.map(\.grant.budgetClass) == [.channel])
        #expect(view.map(\.deviceLeft) == [nil])
        #expect(view.map(\.phone) == [nil])
    }

    @Test func `frequent updates that the user switches off lower the grant at once`() throws {
        var rig = Rig.running(.frequent, until: 10)
        let fields = #"{"frequent_updates":false}"#
        rig.tell(.register(try DeviceRegistration(reading: Rig.json(fields))))
        rig.laps(0..<200, .low) { 20 + Double($0) }
        #expect(rig.lastAccepted?.grant?.budgetClass == .standard)
        let times = rig.pushes.filter { $0.at > .seconds(10) }.map(\.at.seconds)
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 >= 15 })
    }

    @Test func `class lab of a type does not apply in Apple's environment`() throws {
        var rig = Rig {
            let app = $0.apps[0]
            $0.apps.append(
                .init(tenant: app.tenant, id: app.id, environment: .production, allowsLab: false))
        }
        rig.type(#"{"budget_class":"lab"}"#)
        for (device, environment) in [("one", "sandbox"), ("two", "production")] {
            let fields = #"{"app":"com.example.app","environment":"\#(environment)"}"#
            rig.tell(.register(try DeviceRegistration(reading: Rig.json(fields))), device)
            rig.token("start:Runner", "aa", device)
        }
        rig.command(
            .start,
            #"{"type":"Runner","app":"com.example.app","audience":{"devices":["one","two"]},"#
                + #""state":{}}"#)
        #expect(rig.view()?.destinations.map(\.grant.budgetClass) == [.lab, .standard])
    }

    @Test func `an expired alert is noted as a fact`() {
        var rig = Rig.running(until: 10)
        let pause = rig.pause(#"{"activity":"cat"}"#)
        for lap in 1...9 {
            rig.command(
                .update,
                #"{"state":{"lap":\#(lap)},"alert":{"title":"t"},"alert_ttl":"1m"}"#)
        }
        func expired() -> [Int64?] {
            rig.facts.filter { $0.kind == "alert.expired" }
                .map { JSON(unchecked: $0.body).document.root["version"]?.integer }
        }
        rig.advance(to: 20)
        #expect(expired() == [2], "eight wait")
        rig.advance(to: 80)
        rig.resume(pause)
        rig.advance(to: 90)
        #expect(expired() == [2, 3, 4, 5, 6, 7, 8, 9, 10])
        #expect(rig.line(from: 1) == #"80:U10{"lap":9}"#)
    }
}
