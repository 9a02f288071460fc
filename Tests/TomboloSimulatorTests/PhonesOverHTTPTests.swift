import Testing
import TomboloHTTP
import TomboloJSON
import TomboloLoop

@testable import TomboloSimulator

/// Phones as clients of a relay: from the first PUT to the word about what they show.
@Suite struct PhonesOverHTTPTests {
    /// A stand-in for the relay, a simulator with phones, and what happens between them.
    private func run(
        _ configure: @escaping @Sendable (inout SimulatorConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (SimulatorBench, RelayStandIn) async throws -> Void
    ) async throws {
        try await SimulatorBench.run(configure: { configuration, loop in
            let relay = RelayStandIn(loop)
            let server = try HTTPServer(
                loop: loop, listen: ListenAddress(host: "127.0.0.1", port: 0), handler: relay)
            configuration.relay = .init(origin: "http://\(server.address)", key: "tmb_key")
            configure(&configuration)
            return (relay, server)
        }) { bench, beside in
            let (relay, server) = beside
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await server.run() }
                defer { group.cancelAll() }
                try await body(bench, relay)
            }
        }
    }

    private func push(
        _ bench: SimulatorBench, to registration: JSON, _ event: String, _ image: String,
        extra: String = ""
    ) async throws -> String {
        let token = try #require(registration.document.root["token"]?.string)
        var payload = #"{"aps":{"timestamp":\#(SystemWallClock.now().seconds)"#
        payload += #","event":"\#(event)","content-state":{"image":"\#(image)"}"# + extra + "}}"
        return try await bench.push(to: token, payload: payload).status
    }

    private static let startExtra =
        #","alert":{"title":"Go"},"attributes-type":"RunnerWidgetAttributes""#
        + #","attributes":{"activity_id":"cat"}"#

    @Test func `a push starts a card, its token comes back, and the phone tells what it shows`()
        async throws
    {
        try await run {
            $0.phoneSettings = [.init(phone: "all", setting: .deadTokenGrace, text: "0s")]
        } _: { bench, relay in
            let device = try await relay.wait(for: "PUT /v1/devices/phone-1")
            #expect(device.document.root["budget_class"]?.string == "lab")
            let start = try await relay.wait(
                for: "PUT /v1/devices/phone-1/tokens/start:RunnerWidgetAttributes")
            #expect(
                try await push(bench, to: start, "start", "a", extra: Self.startExtra) == "2 200")
            let update = try await relay.wait(
                for: "PUT /v1/devices/phone-1/tokens/activity:cat")
            #expect(try await push(bench, to: update, "update", "b") == "2 200")
            let word = try await relay.wait(for: "PUT /v1/devices/phone-1/activities/cat") {
                $0["shown_count"]?.integer == 2
            }
            #expect(word.document.root["phase"]?.string == "active")
            #expect(
                word.document.root["received_state"]?.json
                    == JSON(unchecked: Array(#"{"image":"b"}"#.utf8)))
            _ = try await push(bench, to: update, "end", "c", extra: #","dismissal-date":1"#)
            _ = try await relay.wait(for: "PUT /v1/devices/phone-1/activities/cat") {
                $0["phase"]?.string == "ended" && $0["shown_count"]?.integer == 3
            }
            let dead = try await bench.push(
                to: update.document.root["token"]?.string ?? "")
            #expect(dead.status == "2 410")
            #expect(dead.text.contains(#"{"reason":"Unregistered","timestamp":"#))
            #expect(relay.authorizations == ["Bearer tmb_key"])
            let events = bench.lines.texts.dropFirst().compactMap {
                JSON(unchecked: Array($0.utf8)).document.root["event"]?.string
            }
            #expect(events == ["shown", "shown", "ended", "dismissed", "refused"])
        }
    }

    @Test func `the control port plays the user, and tells what a phone ignored and why`()
        async throws
    {
        try await run({ $0.control = (host: "127.0.0.1", port: 0) }) { bench, relay in
            let start = try await relay.wait(
                for: "PUT /v1/devices/phone-1/tokens/start:RunnerWidgetAttributes")
            _ = try await push(bench, to: start, "start", "a")
            let told = try await bench.control("GET", "/v1/phones/phone-1/ignored")
            #expect(told.contains(#""reason":"alert_missing""#) && told.hasSuffix("200"), "\(told)")
            _ = try await push(bench, to: start, "start", "a", extra: Self.startExtra)
            let name = "PUT /v1/devices/phone-1/tokens/activity:cat"
            let first = try await relay.wait(for: name)
            func act(_ deed: String) async throws -> String {
                try await bench.control("POST", "/v1/phones/phone-1", deed)
            }
            #expect(try await act(#"{"do":"rotate","activity":"cat"}"#).hasSuffix("200"))
            let token = first.document.root["token"]?.string
            let second = try await relay.wait(for: name) { $0["token"]?.string != token }
            #expect(try await act(#"{"do":"offline"}"#).contains(#""online":false"#))
            for image in ["b", "c"] { _ = try await push(bench, to: second, "update", image) }
            #expect(try await act(#"{"do":"online"}"#).contains(#""image":"c""#))
            _ = try await act(#"{"do":"update","activity":"cat","state":{"image":"own"}}"#)
            _ = try await relay.wait(for: "PUT /v1/devices/phone-1/activities/cat") {
                $0["received_state"]?["image"]?.string == "own"
            }
            #expect(try await act(#"{"do":"swipe","activity":"cat"}"#).hasSuffix("200"))
            _ = try await relay.wait(for: "PUT /v1/devices/phone-1/activities/cat") {
                $0["phase"]?.string == "dismissed"
            }
            #expect(try await act(#"{"do":"terminate"}"#).hasSuffix("200"))
            _ = try await push(bench, to: start, "start", "a", extra: Self.startExtra)
            let all = try await bench.control("GET", "/v1/phones/phone-1/ignored")
            for reason in ["alert_missing", "replaced_while_offline", "app_terminated"] {
                #expect(all.contains(#""reason":"\#(reason)""#), "\(all)")
            }
            let wrong = try await act(#"{"do":"throw"}"#)
            #expect(wrong.contains("throw is not one of front, back") && wrong.hasSuffix("422"))
            let nothing = try await act(#"{"do":"swipe","activity":"no"}"#)
            #expect(nothing.contains("has no card") && nothing.hasSuffix("409"), "\(nothing)")
        }
    }

    @Test func `three phones introduce themselves, each of its class`() async throws {
        try await run { bench, relay in
            var classes: [String?] = []
            for number in 1...3 {
                let device = try await relay.wait(for: "PUT /v1/devices/phone-\(number)")
                classes.append(device.document.root["budget_class"]?.string)
                _ = try await relay.wait(for: "PUT /v1/devices/phone-\(number)/presence")
            }
            #expect(classes == ["lab", "frequent", "standard"])
        }
    }

    @Test func `a key that may not set the budget class registers without`() async throws {
        try await run { configuration in
            configuration.phoneCount = 1
        } _: { bench, relay in
            relay.statuses["PUT /v1/devices/phone-1"] = 403
            _ = try await relay.wait(for: "PUT /v1/devices/phone-1") { $0["budget_class"] == nil }
            relay.statuses = [:]
            _ = try await relay.wait(
                for: "PUT /v1/devices/phone-1/tokens/start:RunnerWidgetAttributes")
        }
    }

    @Test func `after a restart the relay is told all it may have lost`() async throws {
        try await SimulatorBench.run(configure: { configuration, loop in
            let relay = RelayStandIn(loop)
            let server = try HTTPServer(
                loop: loop, listen: ListenAddress(host: "127.0.0.1", port: 0), handler: relay)
            configuration.relay = .init(origin: "http://\(server.address)", key: "tmb_key")
            configuration.phoneCount = 1
            return (relay, server)
        }) { bench, beside in
            let (before, server) = beside
            let startPath = "PUT /v1/devices/phone-1/tokens/start:RunnerWidgetAttributes"
            try await withThrowingTaskGroup(of: Void.self) { group in
                defer { group.cancelAll() }
                group.addTask { try await server.run() }
                let start = try await before.wait(for: startPath)
                await server.drain(within: .zero)
                let status = try await push(bench, to: start, "start", "a", extra: Self.startExtra)
                #expect(status == "2 200")

                let after = RelayStandIn(bench.loop)
                // It has lost the device too.
                after.statuses[startPath] = 404
                let address = ListenAddress(host: "127.0.0.1", port: server.address.port)
                let restarted = try HTTPServer(loop: bench.loop, listen: address, handler: after)
                group.addTask { try await restarted.run() }
                _ = try await after.wait(for: "PUT /v1/devices/phone-1/activities/cat")
                _ = try await after.wait(for: "PUT /v1/devices/phone-1/tokens/activity:cat")
                _ = try await after.wait(for: startPath)
                _ = try await after.wait(for: "PUT /v1/devices/phone-1")
                after.statuses = [:]
                let again = try await after.wait(for: startPath)
                #expect(again == start)
            }
            #expect(bench.lines.texts.contains { $0.contains(#""event":"relay_unreachable""#) })
        }
    }
}
