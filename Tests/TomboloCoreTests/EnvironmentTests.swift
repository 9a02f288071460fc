import CoreRig
import Testing
import TomboloJSON

@testable import TomboloCore

/// The environment is a part of a token: what Xcode installs is another installation than what
/// comes from the store.
@Suite struct EnvironmentTests {
    private static func rig() -> Rig {
        Rig {
            let app = $0.apps[0]
            $0.apps.append(
                .init(tenant: app.tenant, id: app.id, environment: .production, allowsLab: true))
        }
    }

    private func register(_ rig: inout Rig, _ environment: String) throws -> Stored {
        let fields =
            #"{"app":"com.example.app","environment":"\#(environment)","budget_class":"lab"}"#
        rig.tell(.register(try DeviceRegistration(reading: Rig.json(fields))))
        guard case .stored(let stored)? = rig.answers.last else { return Stored(.outdated) }
        return stored
    }

    private let start =
        #"{"type":"Runner","app":"com.example.app","audience":{"device":"phone"},"state":{"n":1}}"#

    @Test func `a token of one environment never goes to the other`() throws {
        var rig = Self.rig()
        _ = try register(&rig, "sandbox")
        rig.token("start:Runner", "aa")
        rig.command(.start, start)
        rig.token("activity:cat", "bb")
        rig.advance(to: 10)
        let before = rig.pushes.count
        let moved = try register(&rig, "production")
        #expect(moved.kind == .updated)
        #expect(moved.lint.map(\.code) == [.environmentChanged])
        #expect(moved.lint.first?.message.contains("the 2 tokens") == true)
        rig.command(.update, #"{"state":{"n":2}}"#)
        rig.advance(to: 60)
        #expect(rig.pushes.count == before, "no token of production is known")
        // The new installation gets its card, and what follows, there.
        rig.token("start:Runner", "cc")
        rig.token("activity:cat", "dd")
        rig.command(.update, #"{"state":{"n":3}}"#)
        rig.advance(to: 120)
        let later = rig.pushes.dropFirst(before).map(\.push)
        #expect(Set(later.map(\.token)).isSubset(of: ["cc", "dd"]))
        #expect(later.allSatisfy { $0.upstream == UpstreamNumber(1) })
        #expect(later.last.map { Rig.state($0) } == #"{"n":3}"#)
    }

    @Test func `a device that registers again in the same environment keeps everything`() throws {
        var rig = Self.rig()
        _ = try register(&rig, "sandbox")
        rig.token("start:Runner", "aa")
        let again = try register(&rig, "sandbox")
        #expect(again.lint.isEmpty)
    }

    @Test(arguments: ["sandbox", "production"])
    func `a device that omits its environment stays in the previous one`(environment: String) throws
    {
        var rig = Self.rig()
        _ = try register(&rig, environment)
        rig.token("start:Runner", "aa")
        let fields = #"{"app":"com.example.app"}"#
        rig.tell(.register(try DeviceRegistration(reading: Rig.json(fields))))
        #expect(rig.lastStored?.lint == [])
        let key = DeviceKey(tenant: Rig.tenant, id: try #require(Identifier("phone")))
        let view = try #require(rig.core.deviceView(key, now: rig.now) ?? nil)
        #expect(view.tokens.count == 1)
        #expect(view.registration.environment?.name == environment)
    }

    @Test func `who names the only app that there is stays in its environment`() throws {
        var rig = Self.rig()
        let first = #"{"environment":"production"}"#
        rig.tell(.register(try DeviceRegistration(reading: Rig.json(first))))
        rig.token("widget", "aa")
        rig.tell(
            .register(try DeviceRegistration(reading: Rig.json(#"{"app":"com.example.app"}"#))))
        let key = DeviceKey(tenant: Rig.tenant, id: try #require(Identifier("phone")))
        let view = try #require(rig.core.deviceView(key, now: rig.now) ?? nil)
        #expect(view.tokens.map(\.token) == ["aa"])
        #expect(view.registration.environment == .production)
    }

    @Test func `values that were removed with the environment stay removed after a crash`() throws {
        var rig = Self.rig()
        _ = try register(&rig, "sandbox")
        rig.token("widget", "aa")
        _ = try register(&rig, "production")
        rig.token("widget", "bb")
        #expect(rig.crash(recoverAt: 5).isEmpty)
        let key = DeviceKey(tenant: Rig.tenant, id: try #require(Identifier("phone")))
        let view = try #require(rig.core.deviceView(key, now: rig.now) ?? nil)
        #expect(view.tokens.map(\.token) == ["bb"])
        #expect(view.registration.environment == .production)
        #expect(view.registration.budgetClass == .lab, "an operator set it")
    }
}
