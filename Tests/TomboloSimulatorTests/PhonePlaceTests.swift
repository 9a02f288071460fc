import TestSupport
import Testing
import TomboloContract
import TomboloJSON
import TomboloLoop

@testable import TomboloHTTP
@testable import TomboloSimulator

/// Where the app is, the side button, and who may reach the phones.
@Suite struct PhonePlaceTests {
    private let now = PhoneBench.beginning

    private func phone() -> Phone { PhoneBench().phone }

    @Test func `an app comes to the front, is covered, and is left`() {
        var phone = phone()
        #expect(phone.move(to: .covered, at: now) == [], "nothing is in front")
        #expect(phone.move(to: .active, at: now) == [.moved(.active)])
        #expect(phone.move(to: .active, at: now) == [], "it is there already")
        #expect(phone.move(to: .covered, at: now) == [.moved(.covered)])
        #expect(phone.move(to: .background, at: now) == [.moved(.background)])
    }

    @Test func `the side button sends the app to the background, and keeps it there`() {
        var phone = phone()
        _ = phone.move(to: .active, at: now)
        #expect(phone.setLocked(true, at: now) == [.moved(.background)])
        #expect(phone.isLocked)
        #expect(phone.move(to: .active, at: now) == [])
        #expect(phone.setLocked(false, at: now) == [])
        #expect(phone.move(to: .active, at: now) == [.moved(.active)])
    }

    @Test func `an app that is opened runs again`() {
        var phone = phone()
        _ = phone.setTerminated(true, at: now)
        _ = phone.move(to: .active, at: now)
        #expect(!phone.isTerminated)
    }

    @Test func `in the app switcher the app has resigned, and a return goes straight back`() {
        var phone = phone()
        #expect(phone.move(to: .inactive, at: now) == [], "nothing is in front")
        _ = phone.move(to: .active, at: now)
        #expect(phone.move(to: .inactive, at: now) == [.moved(.inactive)])
        #expect(phone.move(to: .covered, at: now) == [], "the switcher is not covered")
        #expect(phone.move(to: .active, at: now) == [.moved(.active)])
    }

    @Test func `without a status bar the first pull shows the handle and the second opens`() {
        var phone = phone()
        _ = phone.move(to: .active, at: now)
        let pull = PhoneEffect.touched(.init(x: PhoneGlass.width / 2, y: PhoneGlass.height))
        #expect(phone.setStatusBar(hidden: true) == [.statusBar(hidden: true)])
        #expect(phone.pullControlCenter(at: now) == [pull])
        #expect(phone.pullControlCenter(at: now + .milliseconds(2_750)) == [pull], "too late")
        let opened = phone.pullControlCenter(at: now + .milliseconds(5_490))
        #expect(opened == [pull, .moved(.covered)])
        _ = phone.move(to: .active, at: now + .seconds(9))
        #expect(phone.setStatusBar(hidden: false) == [.statusBar(hidden: false)])
        #expect(phone.pullControlCenter(at: now + .seconds(20)) == [pull, .moved(.covered)])
    }

    /// What the app says after the phone's effects, each at its time after the beginning.
    private func presence(
        _ edge: PhoneGlass.Edge, _ effects: [(effect: PhoneEffect, at: Duration)]
    ) throws -> JSONView {
        var app = SimulatedApp(
            PhoneBench { $0.controlCenter = edge }.phone.configuration, environment: .sandbox,
            user: nil, tellsBudgetClass: true)
        for (effect, time) in effects {
            app.note(effect, at: Self.start + time, wall: now + time)
        }
        let next = app.next(at: Self.start + .seconds(60))
        let upload = try #require(next)
        #expect(upload.path == "/devices/phone-1/presence")
        return try JSONDocument(upload.body).root
    }

    private static let start = MonotonicInstant(nanoseconds: 0)

    @Test func `the app tells a Control Center from an app that is left, by the table`() throws {
        let rows = try ProtocolFiles.json("examples/window/control-center.json")
        #expect(rows.count > 20)
        for row in rows.elements {
            let edge = try #require(
                row["control_center"]?.string.flatMap(PhoneGlass.Edge.init))
            var phone = PhoneBench { $0.controlCenter = edge }.phone
            _ = phone.move(to: .active, at: now)
            var effects: [(effect: PhoneEffect, at: Duration)] = []
            let isHidden = row["status_bar"]?.bool == false
            effects += phone.setStatusBar(hidden: isHidden).map { ($0, .zero) }
            for touch in try #require(row["touches"]).elements {
                let point = PhoneGlass.Point(
                    x: try #require(touch["x"]?.double), y: try #require(touch["y"]?.double))
                let time = Duration.milliseconds(touch["at_ms"]?.integer ?? 0)
                effects += phone.touch(point, at: now + time).map { ($0, time) }
            }
            let resigned = Duration.milliseconds(row["resigns_at_ms"]?.integer ?? 0)
            effects += phone.move(to: .inactive, at: now + resigned).map { ($0, resigned) }
            let presence = try presence(edge, effects)
            #expect(presence["phase"]?.string == "inactive")
            #expect(
                (presence["cause"]?.string == "control_center") == (row["is"]?.string == "covered"),
                "\(row["case"]?.string ?? "")")
        }
    }

    @Test(arguments: [PhoneGlass.Edge.bottom, .topRight])
    func `the relay hears of it in the words of its API`(edge: PhoneGlass.Edge) throws {
        var phone = PhoneBench { $0.controlCenter = edge }.phone
        _ = phone.move(to: .active, at: now)
        let effects = phone.pullControlCenter(at: now).map { (effect: $0, at: Duration.zero) }
        let presence = try presence(edge, effects)
        #expect(presence["app"]?.string == "com.example.app")
        #expect(presence["phase"]?.string == "inactive")
        #expect(presence["cause"]?.string == "control_center")
    }

    @Test(arguments: [
        ("127.0.0.1:8444", nil, true), ("localhost:8444", nil, true), ("[::1]:8444", nil, true),
        ("[::1]", nil, true), ("evil.example:8444", nil, false), ("127.evil.example", nil, false),
        (nil, nil, false), ("127.0.0.1:8444", "http://evil.example", false),
        ("127.0.0.1:8444", "null", false),
    ])
    func `a browser with a page of somebody else is refused`(
        host: String?, origin: String?, isLocal: Bool
    ) {
        var fields = HTTPFields()
        if let origin { fields.append("origin", origin) }
        let head = HTTPRequestHead(
            method: "GET", target: "/v1/phones", scheme: "http", authority: host, fields: fields,
            version: .http1_1, peerAddress: "127.0.0.1")
        #expect(ControlDoor.isLocal(head) == isLocal)
    }
}
