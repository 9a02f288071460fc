import TestSupport
import Testing
import TomboloAPI
import TomboloCore
import TomboloJSON
import TomboloLoop

@testable import TomboloServer

/// `GET /v1/requests`: what was refused or slow.
@Suite struct RequestDoorTests {
    private static let start = #"{"type":"Cat","audience":{"device":"phone-1"},"state":{"n":1}}"#

    private static func listed(
        _ doors: DoorsUnderTest, _ query: String = "?kind=refused", key: String? = nil
    ) async throws -> [JSONView] {
        let answer = try await doors.call("GET", "/v1/requests\(query)", key: key)
        #expect(answer.status == 200, "\(answer.text)")
        return try json(answer)["requests"].map { Array($0.elements) } ?? []
    }

    @Test func `a refused request is listed with its code and its field, and without its body`()
        async throws
    {
        try await withDoors { doors in
            let body = #"{"state":{"secret":1},"stale":"mine"}"#
            _ = try await doors.call("PATCH", "/v1/activities/cat?dry_run=true", body)
            _ = try await doors.call("PATCH", "/v1/activities/cat", body)
            let rows = try await Self.listed(doors)
            let row = try #require(rows.first)
            #expect(rows.count == 2)
            #expect(row["kind"]?.string == "refused")
            #expect(row["operation"]?.string == "updateActivity")
            #expect(row["path"]?.string == "/v1/activities/{id}")
            #expect(row["status"]?.integer == 422)
            #expect(row["code"]?.string == "invalid-field")
            #expect(row["pointer"]?.string == "/stale")
            #expect(row["detail"]?.string?.contains("unknown field") == true)
            #expect(row["activity"]?.string == "cat")
            #expect(row["address"]?.string == "127.0.0.1")
            #expect(row["key"]?.string?.count == 12)
            #expect(row["dry_run"] == nil)
            #expect(rows.last?["dry_run"]?.bool == true)
            #expect(!"\(rows.map(\.json))".contains("secret"))
        }
    }

    @Test func `a filter and a page leave out the others`() async throws {
        try await withDoors { doors in
            for name in ["cat", "dog", "emu"] {
                _ = try await doors.call("PATCH", "/v1/activities/\(name)", #"{"state":{}}"#)
            }
            _ = try await doors.call("GET", "/v1/nothing")
            #expect(try await Self.listed(doors, "?activity=dog").count == 1)
            #expect(try await Self.listed(doors, "?code=unknown-activity").count == 3)
            let lost = try await Self.listed(doors, "?code=unknown-route")
            #expect(lost.first?["key"]?.string != nil, "a wrong path is its tenant's")
            #expect(lost.first?["operation"] == nil)
            let page = try json(try await doors.call("GET", "/v1/requests?kind=refused&limit=3"))
            #expect(page["requests"]?.count == 3)
            let cursor = try #require(page["next_cursor"]?.string)
            let rest = try await Self.listed(doors, "?kind=refused&limit=3&cursor=\(cursor)")
            #expect(rest.compactMap { $0["activity"]?.string } == ["cat"])
            #expect(try await doors.call("GET", "/v1/requests?kind=fast").status == 400)
        }
    }

    @Test func `a batch is one entry, with its first three refused lines`() async throws {
        try await withDoors { doors in
            let lines = (1...5).map {
                #"{"activity":"cat-\#($0)","do":"update","state":{},"lap":\#($0)}"#
            }
            let body = "\(Self.line("dog"))\n\(lines.joined(separator: "\n"))\n"
            _ = try await doors.call("POST", "/v1/events", body)
            let rows = try await Self.listed(doors)
            #expect(rows.count == 1)
            #expect(rows.first?["lines_refused"]?.integer == 5)
            let first = rows.first?["lines"].map { Array($0.elements) } ?? []
            #expect(first.compactMap { $0["line"]?.integer } == [2, 3, 4])
            #expect(first.compactMap { $0["activity"]?.string } == ["cat-1", "cat-2", "cat-3"])
            #expect(first.allSatisfy { $0["pointer"]?.string == "/lap" })
            #expect(first.allSatisfy { $0["code"]?.string == "invalid-field" })
            #expect(try await Self.listed(doors, "?activity=cat-2").count == 1)
            #expect(try await Self.listed(doors, "?code=invalid-field").count == 1)
        }
    }

    private static func line(_ activity: String) -> String {
        #"{"activity":"\#(activity)","do":"start","type":"Cat","state":{}}"#
    }

    @Test func `a tenant sees its own, and strangers are for who operates main`() async throws {
        try await withDoors { doors in
            let other = TenantID(Identifier("other")!)
            let observer = try await doors.mint("observe", tenant: other)
            let operators = try await doors.mint("operate", tenant: other)
            let own = try await doors.mint("observe")
            _ = try await doors.call("GET", "/v1/activities/theirs", key: observer)
            _ = try await doors.call("POST", "/v1/pauses", "{}", key: observer)
            _ = try await doors.call("GET", "/v1/activities/ours")
            #expect(try await doors.call("GET", "/v1/activities/x", key: "tmb_no").status == 401)
            for key in [observer, operators] {
                let theirs = try await Self.listed(doors, key: key)
                #expect(theirs.compactMap { $0["status"]?.integer } == [403, 404])
                #expect(theirs.compactMap { $0["id"]?.string } == ["2", "1"])
            }
            let ours = try await Self.listed(doors, key: own)
            #expect(ours.compactMap { $0["status"]?.integer } == [404])
            let all = try await Self.listed(doors)
            #expect(all.compactMap { $0["status"]?.integer } == [401, 404])
            #expect(all.first?["key"] == nil)
        }
    }

    @Test func `why says that the producer was refused`() async throws {
        try await withPhone { doors in
            _ = try await doors.call("PUT", "/v1/activities/cat", Self.start)
            for _ in 1...2 {
                _ = try await doors.call("PATCH", "/v1/activities/cat", #"{"lap":1}"#)
            }
            _ = try await doors.call("PATCH", "/v1/activities/cat?dry_run=true", #"{"lap":1}"#)
            _ = try await doors.call(
                "POST", "/v1/events", #"{"activity":"cat","do":"update","state":{},"lap":1}"#)
            let why = try json(
                try await doors.call("GET", "/v1/activities/cat/explain?device=phone-1"))
            let row = why["because"]?.elements.first { $0["code"]?.string == "producer_refused" }
            let text = row?["text"]?.string ?? "\(why.json)"
            #expect(text.hasPrefix("Its producer was refused 3 times, last at 20"), "\(text)")
            #expect(text.contains("unknown field"), "\(text)")
        }
    }

    @Test func `an erasure forgets what names the activity, the device or its user`() async throws {
        try await withDoors { doors in
            _ = try await doors.call("PUT", "/v1/devices/phone-1", #"{"user":"ada"}"#)
            _ = try await doors.call("POST", "/v1/events", Self.line("cat"))
            _ = try await doors.call("PUT", "/v1/activities/dog", Self.start)
            for path in ["cat", "cat-2", "dog"] {
                _ = try await doors.call("PATCH", "/v1/activities/\(path)", #"{"lap":1}"#)
            }
            _ = try await doors.call("PUT", "/v1/devices/phone-1/presence", #"{"lap":1}"#)
            _ = try await doors.call("GET", "/v1/log?limit=none&user=bob")
            #expect(try await Self.listed(doors).count == 5)
            _ = try await doors.call("POST", "/v1/activities/cat/end", "{}")
            #expect(try await doors.call("POST", "/v1/activities/cat/erase").status == 200)
            let left = try await Self.listed(doors)
            #expect(left.count == 4)
            #expect(!left.contains { $0["activity"]?.string == "cat" })
            #expect(try await doors.call("POST", "/v1/devices/phone-1/erase").status == 200)
            let last = try await Self.listed(doors)
            #expect(last.compactMap { $0["operation"]?.string } == ["listLog"])
        }
    }

    /// A key and a token are legal ids, so a client may have put one in any place.
    @Test func `no request is kept with a key or a token, wherever it was sent`() async throws {
        try await withDoors { doors in
            let key = try await doors.mint("observe", tenant: .main)
            let token = String(repeating: "80c1", count: 16)
            for route in RouteTable.routes where route.operation != .tail {
                for secret in [key, token] {
                    let path = route.path.text.split(separator: "/").map {
                        $0.hasPrefix("{") ? secret : String($0)
                    }
                    let names = ["activity", "device", "tokens", "id", "do", secret]
                    let body = "{\(names.map { "\"\($0)\":\"\(secret)\"" }.joined(separator: ","))}"
                    let target = "/\(path.joined(separator: "/"))?kind=\(secret)"
                    for key in [nil, "tmb_no"] {
                        _ = try await doors.call(
                            route.method, target, route.method == "GET" ? nil : body, key: key)
                    }
                }
            }
            var (page, cursor): (JSONView?, String?) = (nil, nil)
            var count = 0
            repeat {
                let next = cursor.map { "&cursor=\($0)" } ?? ""
                page = try json(try await doors.call("GET", "/v1/requests?limit=1000\(next)"))
                cursor = page?["next_cursor"]?.string
                let text = "\(try #require(page).json)"
                count += page?["requests"]?.count ?? 0
                #expect(!text.contains(key.suffix(12)))
                #expect(!text.contains(token.suffix(40)))
            } while cursor != nil
            #expect(count > RouteTable.routes.count)
        }
    }

    @Test func `what a retried erasure and a token's name say is forgotten too`() async throws {
        try await withDoors { doors in
            _ = try await doors.call("PUT", "/v1/devices/phone-1", "{}")
            _ = try await doors.call("POST", "/v1/events", Self.line("leaky"))
            let tokens = #"{"tokens":{"activity:leaky":{"token":"zz"}}}"#
            #expect(
                try await doors.call("PUT", "/v1/devices/phone-1/tokens", tokens).status == 422)
            #expect(try await Self.listed(doors).count == 1)
            _ = try await doors.call("POST", "/v1/activities/leaky/end", "{}")
            for status in [200, 404] {
                let answer = try await doors.call("POST", "/v1/activities/leaky/erase")
                #expect(answer.status == status)
            }
            for status in [200, 404] {
                let answer = try await doors.call("POST", "/v1/devices/phone-1/erase")
                #expect(answer.status == status)
            }
            let left = try await Self.listed(doors)
            let operations = left.compactMap { $0["operation"]?.string }
            #expect(operations == ["eraseDevice", "eraseActivity"])
            let text = left.map { "\($0.json)" }.joined()
            #expect(!text.contains("leaky") && !text.contains("phone-1"), "\(text)")
        }
    }

    @Test func `a tenant's erasure leaves strangers' requests that do not name its subject`()
        async throws
    {
        let other = TenantID(Identifier("other")!)
        let theirs = CoreConfiguration.App(
            tenant: other, id: "com.example.other", environment: .sandbox, allowsLab: false)
        try await withDoors(apps: DoorsUnderTest.apps + [theirs]) { doors in
            let operators = try await doors.mint("all", tenant: other)
            for name in ["attack", "phone-1"] {
                _ = try await doors.call("GET", "/v1/devices/\(name)", key: "tmb_no")
                _ = try await doors.call("GET", "/v1/activities/\(name)", key: "tmb_no")
            }
            _ = try await doors.call("PUT", "/v1/devices/phone-1", "{}", key: operators)
            let erased = try await doors.call("POST", "/v1/devices/phone-1/erase", key: operators)
            #expect(erased.status == 200)
            let left = try await Self.listed(doors)
            #expect(left.compactMap { $0["status"]?.integer } == [401, 401])
        }
    }

    @Test func `a slow request is listed, and a wait that was asked for is not slow`() async throws
    {
        let shelf = ChannelShelf()
        try await withDoors(channels: shelf) { doors in
            _ = try await doors.call("PUT", "/v1/channels/final", "{}")
            shelf.whileDeleting = {
                let end = doors.loop.now + .milliseconds(250)
                while doors.loop.now < end { await Task.yield() }
                return nil
            }
            #expect(try await doors.call("DELETE", "/v1/channels/final").status == 200)
            let row = try #require(try await Self.listed(doors, "?kind=slow").first)
            #expect(row["operation"]?.string == "deleteChannel")
            #expect(row["kind"]?.string == "slow" && row["code"] == nil)
            let took = row["took_ms"]?.integer ?? 0
            #expect(took >= 200 && took % 100 == 0)
        }
    }

    @Test func `what the relay waits for is not counted`() async throws {
        try await onLoop { loop in
            let time = RequestTime(loop)
            await time.leavingOut {
                let end = loop.now + .milliseconds(150)
                while loop.now < end { await Task.yield() }
            }
            #expect(time.taken < .milliseconds(100))
        }
    }
}

@Suite struct RequestMemoryTests {
    private static let tenants = ["main", "one", "two"].map { TenantID(Identifier($0)!) }

    private static func entry(_ bytes: Int = 100, at second: Int64 = 0) -> RequestEntry {
        var entry = RequestEntry(
            at: Instant(seconds: second), method: "PUT", status: 422, address: "::1")
        entry.cause = RequestEntry.Cause(
            Problem(.invalidField, String(repeating: "x", count: bytes)))
        return entry
    }

    private static func count(_ memory: RequestMemory, _ tenant: TenantID) -> Int {
        memory.listed(of: tenant, withStrangers: false) { _ in true }.count
    }

    @Test func `the memory is full at its bound, and then the oldest goes`() {
        var memory = RequestMemory()
        let each = RequestMemory.bytes(of: Self.entry())
        let most = RequestMemory.bytesMax / each
        for second in 0..<most { memory.keep(Self.entry(at: Int64(second)), of: Self.tenants[1]) }
        #expect(memory.bytes == most * each)
        #expect(Self.count(memory, Self.tenants[1]) == most)
        memory.keep(Self.entry(at: Int64(most)), of: Self.tenants[1])
        #expect(Self.count(memory, Self.tenants[1]) == most)
        let all = memory.listed(of: Self.tenants[1], withStrangers: false) { _ in true }
        #expect(all.first?.number == Int64(most + 1) && all.last?.number == 2)
        #expect(memory.bytes <= RequestMemory.bytesMax)
    }

    @Test func `who sends most loses, and strangers have a quarter`() {
        var memory = RequestMemory()
        for second in 0..<10 { memory.keep(Self.entry(at: Int64(second)), of: Self.tenants[1]) }
        for second in 10..<5_000 {
            memory.keep(Self.entry(at: Int64(second)), of: nil)
            memory.keep(Self.entry(at: Int64(second)), of: Self.tenants[2])
        }
        #expect(Self.count(memory, Self.tenants[1]) == 10)
        let strangers = memory.listed(of: .main, withStrangers: true) { _ in true }
        let bytes = strangers.reduce(0) { $0 + RequestMemory.bytes(of: $1) }
        #expect(bytes <= RequestMemory.strangersBytesMax)
        #expect(bytes > RequestMemory.strangersBytesMax - 1_000)
        #expect(memory.bytes <= RequestMemory.bytesMax)
    }

    @Test func `a text is cut, and what looks like a key is left out`() {
        var memory = RequestMemory()
        memory.keep(Self.entry(100_000), of: Self.tenants[1])
        #expect(memory.bytes < 2 * (RequestMemory.entryBytes + RequestMemory.textBytesMax))
        var entry = Self.entry()
        entry.cause?.detail = "No parameter \"tmb_live_abcDEF123\"; tmb_live_…"
        memory.keep(entry, of: Self.tenants[1])
        let kept = memory.listed(of: Self.tenants[1], withStrangers: false) { _ in true }
        #expect(kept.first?.cause?.detail == "No parameter \"tmb_…\"; tmb_live_…")
    }
}
