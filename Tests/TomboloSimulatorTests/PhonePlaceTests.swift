import TestSupport
import Testing
import TomboloHTTP
import TomboloJSON
import TomboloLoop

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
        phone.setStatusBar(hidden: true)
        #expect(phone.pullControlCenter(at: now) == [])
        #expect(phone.pullControlCenter(at: now + .milliseconds(2_750)) == [], "too late")
        #expect(phone.pullControlCenter(at: now + .milliseconds(5_490)) == [.moved(.covered)])
        _ = phone.move(to: .active, at: now + .seconds(9))
        phone.setStatusBar(hidden: false)
        #expect(phone.pullControlCenter(at: now + .seconds(20)) == [.moved(.covered)])
    }

    @Test func `the phone tells a Control Center from an app that is left, by the table`() throws {
        let rows = try ProtocolFiles.json("examples/window/control-center.json")
        #expect(rows.count > 20)
        for row in rows.elements {
            let edge = try #require(
                row["control_center"]?.string.flatMap(PhoneGlass.Edge.init))
            var phone = PhoneBench { $0.controlCenter = edge }.phone
            _ = phone.move(to: .active, at: now)
            phone.setStatusBar(hidden: row["status_bar"]?.bool == false)
            for touch in try #require(row["touches"]).elements {
                let point = PhoneGlass.Point(
                    x: try #require(touch["x"]?.double), y: try #require(touch["y"]?.double))
                _ = phone.touch(point, at: now + .milliseconds(touch["at_ms"]?.integer ?? 0))
            }
            let resigned = now + .milliseconds(row["resigns_at_ms"]?.integer ?? 0)
            let expected: AppPresence = row["is"]?.string == "covered" ? .covered : .inactive
            #expect(
                phone.move(to: .inactive, at: resigned) == [.moved(expected)],
                "\(row["case"]?.string ?? "")")
        }
    }

    @Test func `the relay is told of it in the words of its API`() {
        var reports = PhoneReports(
            configuration: phone().configuration, environment: .sandbox, user: nil,
            tellsBudgetClass: true)
        let start = MonotonicInstant(nanoseconds: 0)
        reports.note(.moved(.covered), at: start, wall: now)
        let upload = reports.queue.next(at: start)
        #expect(upload.map(\.path) == "/devices/phone-1/presence")
        let body = String(decoding: upload.map(\.body) ?? [], as: UTF8.self)
        let phase = #""phase":"inactive","cause":"control_center","#
        #expect(body.hasPrefix(#"{"app":"com.example.app","#))
        #expect(body.contains(phase))
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
