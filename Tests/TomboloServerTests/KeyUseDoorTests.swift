import TestSupport
import Testing
import TomboloAPI
import TomboloHTTP
import TomboloJSON
import TomboloLoop

@testable import TomboloServer

/// One key takes no more of the relay than its share.
@Suite struct KeyUseDoorTests {
    @Test func `a key has so many tails, and one more when one ends`() async throws {
        try await withDoors(configure: { $0.tailsPerKeyMax = 2 }) { doors in
            let tails = try (0..<2).map { _ in
                try doors.curl("GET", "/v1/tail", options: ["-N"])
            }
            for tail in tails { _ = await tail.wait { $0.contains("200") } }
            let refused = try await doors.call("GET", "/v1/tail")
            #expect(refused.status == 429)
            #expect(try json(refused)["detail"]?.string?.contains("limits.tails_per_key") == true)
            let other = try doors.curl(
                "GET", "/v1/tail", key: try await doors.mint("observe"), options: ["-N"])
            #expect(await other.wait { $0.contains("200") }.contains("200"), "another key's")
            #expect(try await doors.call("GET", "/v1/log").status == 200)
            tails[0].end()
            var again = refused
            while again.status == 429 {
                again = try await doors.call("HEAD", "/v1/tail")
            }
            #expect(again.status == 200)
            tails[1].end()
            other.end()
        }
    }

    @Test func `a key has so many requests open`() async throws {
        try await withDoors(configure: { $0.requestsPerKeyMax = 1 }) { doors in
            let tail = try doors.curl("GET", "/v1/tail", options: ["-N"])
            _ = await tail.wait { $0.contains("200") }
            let refused = try await doors.call("GET", "/v1/log")
            #expect(refused.status == 429)
            #expect(refused.fields["retry-after"] != nil)
            let text = try json(refused)["detail"]?.string
            #expect(text?.contains("limits.requests_per_key") == true)
            let open = try await doors.call("GET", "/livez")
            #expect(open.status == 200, "an open route needs no key")
            tail.end()
        }
    }

    @Test func `a flood without a valid key is slowed down, a valid key is not`() async throws {
        let configure: @Sendable (inout DoorsConfiguration) -> Void = {
            ($0.refusedKeysBurst, $0.refusedKeysPerSecond) = (3, 1)
        }
        try await withDoors(configure: configure) { doors in
            var statuses: [Int] = []
            for _ in 0..<20 {
                let answer = try await doors.call("GET", "/v1/activities", key: "tmb_test_wrong")
                statuses.append(answer.status)
                guard answer.status == 429 else { continue }
                #expect(answer.fields["retry-after"] == "1")
                let detail = try json(answer)["detail"]?.string
                #expect(detail?.contains("limits.refused_keys_per_second") == true)
            }
            #expect(statuses.prefix(3) == [401, 401, 401])
            #expect(statuses.contains(429))
            #expect(try await doors.call("GET", "/v1/activities").status == 200)
            #expect(try await doors.call("GET", "/livez").status == 200)
            let metrics = try await doors.call("GET", "/metrics").text
            let slowed = statuses.count { $0 == 429 }
            #expect(metrics.contains("tombolo_http_keys_refused_total{status=\"429\"} \(slowed)"))
        }
    }

    @Test func `registrations that are refused are told, while no device is there`() async throws {
        try await withDoors { doors in
            func told() async throws -> [String] {
                let overview = try json(try await doors.call("GET", "/v1/overview"))
                return overview["attention"]?.elements.compactMap { $0["text"]?.string } ?? []
            }
            _ = try await doors.call("GET", "/v1/activities", key: "tmb_test_wrong")
            #expect(try await told() == [])
            for _ in 0..<2 {
                _ = try await doors.call("PUT", "/v1/devices/phone-1", "{}", key: "tmb_test_wrong")
            }
            let text = try #require(try await told().first { _ in true })
            #expect(
                text.hasPrefix("No device is registered; 2 registrations were refused with 401"))
            try await doors.registerPhone()
            #expect(try await told() == [])
        }
    }

    @Test func `registrations that were refused long ago are forgotten`() {
        var refused = RefusedKeys(DoorsConfiguration(version: "1"))
        func at(_ minute: Int64) -> MonotonicInstant {
            MonotonicInstant(nanoseconds: minute * 60_000_000_000)
        }
        for minute in 0..<8 {
            _ = refused.answer(
                Problem(.unauthorized, ""), to: .registerDevice, of: "a", now: at(Int64(minute)))
        }
        #expect(refused.registrationsRefused(now: at(7)) == 5)
        #expect(refused.registrationsRefused(now: at(10)) == 2)
        #expect(refused.registrationsRefused(now: at(60)) == 0)
    }

    @Test func `pages of a key are read in turn, two at a time`() async throws {
        try await onLoop { loop in
            let use = KeyUse()
            #expect(await use.beginPage(2, on: loop))
            #expect(await use.beginPage(2, on: loop))
            try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<3 {
                    group.addTask(executorPreference: loop) {
                        #expect(await use.beginPage(2, on: loop))
                        return number
                    }
                }
                while use.waitingCount < 3 { try await loop.sleep(for: .zero) }
                for number in 0..<3 {
                    use.endPage()
                    #expect(try await group.next() == number)
                }
            }
            use.endPage()
            use.endPage()
            #expect(await use.beginPage(1, on: loop), "all were given back")
        }
    }

    @Test func `who is cancelled while it waits leaves its place to the next`() async throws {
        try await onLoop { loop in
            let use = KeyUse()
            #expect(await use.beginPage(1, on: loop))
            await withTaskGroup(of: Bool.self) { group in
                group.addTask(executorPreference: loop) { await use.beginPage(1, on: loop) }
                while use.waitingCount < 1 { await Task.yield() }
                group.cancelAll()
                #expect(await group.next() == false)
            }
            use.endPage()
            #expect(await use.beginPage(1, on: loop))
        }
    }

    @Test func `a query has so many parameters`() async throws {
        try await withDoors { doors in
            let many = (0..<65).map { "a\($0)=1" }.joined(separator: "&")
            let refused = try await doors.call("GET", "/v1/log?\(many)")
            #expect(refused.status == 400)
            #expect(try json(refused)["detail"]?.string?.contains("more than 64") == true)
        }
        let most = (0..<64).map { "a\($0)=1" }.joined(separator: "&")
        #expect(RequestTarget("/v1/log?\(most)")?.hasTooManyItems == false)
        #expect(RequestTarget("/v1/log?\(most)")?.query.count == 64)
        #expect(RequestTarget("/v1/log?\(most)&a")?.hasTooManyItems == true)
    }

    @Test func `metrics tell what clients hold and which were cut, where there is one tenant`()
        async throws
    {
        try await withDoors { doors in
            let held = "tombolo_http_bytes_held"
            let cut = #"tombolo_http_connections_cut_total{reason="handshakes"} 0"#
            let metrics = try await doors.call("GET", "/metrics")
            #expect(metrics.text.contains("\n\(held) "))
            #expect(metrics.text.contains("\n\(cut)\n"))
        }
    }
}
