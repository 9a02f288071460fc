import Synchronization
import TestSupport
import Testing
import TomboloCore
import TomboloJSON
import TomboloLoop
import TomboloRelay

@testable import TomboloServer

/// A key's name, creator, last use, successor and end.
@Suite struct KeyLifeDoorTests {
    private static func with(
        _ body: @escaping @Sendable (DoorsUnderTest, HandClock) async throws -> Void
    ) async throws {
        let hand = HandClock()
        try await withDoors(clock: hand) { doors in try await body(doors, hand) }
    }

    private static func mint(_ body: String, _ doors: DoorsUnderTest) async throws -> (
        key: String, id: String
    ) {
        let answer = try await doors.call("POST", "/v1/keys", body)
        #expect(answer.status == 201, "\(answer.text)")
        let view = try json(answer)
        return (try #require(view["key"]?.string), try #require(view["id"]?.string))
    }

    private static func listed(_ id: String, _ doors: DoorsUnderTest) async throws -> JSONView {
        let page = try json(try await doors.call("GET", "/v1/keys"))
        let rows = page["keys"].map { Array($0.elements) } ?? []
        return try #require(rows.first { $0["id"]?.string == id })
    }

    @Test func `a key has a name, and tells who made it and when it was used last`() async throws {
        try await Self.with { doors, hand in
            let made = try await Self.mint(
                #"{"scopes":["operate"],"name":"the shop's backend"}"#, doors)
            let fresh = try await Self.listed(made.id, doors)
            #expect(fresh["name"]?.string == "the shop's backend")
            #expect(fresh["last_used_at"] == nil)
            #expect(fresh["expires_at"] == nil)
            let own = doors.key.split(separator: "_")[2]
            #expect(fresh["created_by"]?.string == String(own))
            hand.turn(.seconds(90))
            _ = try await doors.call("GET", "/v1/activities", key: made.key)
            let used = try await Self.listed(made.id, doors)
            #expect(used["last_used_at"]?.string == hand.now.rfc3339)
            let child = try json(
                try await doors.call(
                    "POST", "/v1/keys", #"{"scopes":["observe"]}"#, key: made.key))
            #expect(child["created_by"]?.string == made.id)
        }
    }

    @Test func `a key opens until its end and not at it, and its holder learns why`() async throws {
        try await Self.with { doors, hand in
            let made = try await Self.mint(
                #"{"scopes":["observe"],"expires_in":"90s"}"#, doors)
            hand.turn(.milliseconds(89_999))
            #expect(try await doors.call("GET", "/v1/activities", key: made.key).status == 200)
            hand.turn(.milliseconds(1))
            let refused = try await doors.call("GET", "/v1/activities", key: made.key)
            #expect(refused.status == 401)
            #expect(refused.text.contains("expired at 2026-11-18T11:08:10.000Z"))
            // Who guesses a secret does not learn that there was such a key.
            let other = try await Self.mint(#"{"scopes":["observe"]}"#, doors)
            let parts = (made.key.split(separator: "_"), other.key.split(separator: "_"))
            let forged = (parts.0.prefix(3) + parts.1.suffix(2)).joined(separator: "_")
            let refusedLines = try await doors.call("GET", "/v1/activities", key: forged)
            #expect(refusedLines.status == 401 && !refusedLines.text.contains("expired at"))
        }
    }

    @Test func `a tail ends with its key`() async throws {
        try await Self.with { doors, hand in
            let made = try await Self.mint(
                #"{"scopes":["observe"],"expires_in":"10m"}"#, doors)
            let tail = try doors.curl("GET", "/v1/tail", key: made.key, options: ["-N"])
            _ = await tail.wait { $0.contains("200") }
            _ = try await doors.call("PUT", "/v1/activities/cat-old", startCat)
            _ = await tail.wait { $0.contains("cat-old") }
            hand.turn(.seconds(600))
            _ = try await doors.call("PUT", "/v1/activities/cat-new", startCat)
            let text = await tail.wait()
            #expect(text.contains("cat-old") && !text.contains("cat-new"))
        }
    }

    @Test func `a rotated key has a successor like it, and opens until the grace is over`()
        async throws
    {
        try await Self.with { doors, hand in
            let old = try await Self.mint(
                #"{"scopes":["device:phone-1"],"user":"u1","name":"kiosk","expires_in":"10h"}"#,
                doors)
            hand.turn(.hours(2))
            let path = "/v1/keys/\(old.id)/rotate"
            let tried = try await doors.call("POST", path + "?dry_run=true")
            #expect(tried.status == 200 && !tried.text.contains("tmb_"))
            #expect(
                try await Self.listed(old.id, doors)["expires_at"]?.string
                    == (hand.now + .hours(8)).rfc3339)
            let answer = try await doors.call("POST", path, #"{"grace":"5m"}"#)
            #expect(answer.status == 201, "\(answer.text)")
            let new = try json(answer)
            #expect(new["replaces"]?["id"]?.string == old.id)
            #expect(new["replaces"]?["expires_at"]?.string == (hand.now + .seconds(300)).rfc3339)
            #expect(new["expires_at"]?.string == (hand.now + .hours(10)).rfc3339)
            #expect(new["name"]?.string == "kiosk")
            #expect(new["user"]?.string == "u1")
            let key = try #require(new["key"]?.string)
            func status(_ key: String) async throws -> Int {
                try await doors.call("GET", "/v1/devices/phone-1", key: key).status
            }
            #expect(try await status(old.key) == 404)
            #expect(try await status(key) == 404)
            hand.turn(.seconds(300))
            #expect(try await status(old.key) == 401)
            #expect(try await status(key) == 404)
            // As the log has it.
            let again = AccessControl(
                pepper: Pepper(), records: await doors.relay.keys(), now: { hand.now })
            let kept = try #require(again.record(id: old.id, of: DoorsUnderTest.tenant))
            #expect(kept.isExpired(at: hand.now))
        }
    }

    @Test(arguments: [
        (#"{"scopes":["observe"],"name":""}"#, "/name"),
        (#"{"scopes":["observe"],"name":"a\nb"}"#, "/name"),
        (#"{"scopes":["observe"],"name":"a\u009bb"}"#, "/name"),
        // One character to a reader, and 129 code points.
        (#"{"scopes":["observe"],"name":"\#(String(repeating: "\u{301}", count: 129))"}"#, "/name"),
        (#"{"scopes":["observe"],"expires_in":"0s"}"#, "/expires_in"),
        (#"{"scopes":["observe"],"expires_in":"87601h"}"#, "/expires_in"),
    ])
    func `what no key can have is refused`(_ body: String, _ pointer: String) async throws {
        try await Self.with { doors, _ in
            let refused = try await doors.call("POST", "/v1/keys", body)
            #expect(refused.status == 422)
            #expect(refused.text.contains("\"pointer\":\"\(pointer)\""), "\(refused.text)")
        }
    }

    @Test func `a grace is at most thirty days, and the key is one of the tenant`() async throws {
        try await Self.with { doors, _ in
            let made = try await Self.mint(
                #"{"scopes":["observe"],"name":"\#(String(repeating: "n", count: 128))"}"#, doors)
            let path = "/v1/keys/\(made.id)/rotate"
            #expect(try await doors.call("POST", path, #"{"grace":"721h"}"#).status == 422)
            #expect(try await doors.call("POST", path, #"{"gracee":"1h"}"#).status == 422)
            let other = try await doors.mint("operate", tenant: TenantID(Identifier("other")!))
            #expect(try await doors.call("POST", path, key: other).status == 404)
            #expect(try await doors.call("POST", path, #"{"grace":"720h"}"#).status == 201)
        }
    }

    @Test func `a last use that a wrong clock has put into the future is taken back`() async throws
    {
        try await Self.with { doors, hand in
            let made = try await Self.mint(#"{"scopes":["observe"]}"#, doors)
            func use() async throws -> Instant? {
                _ = try await doors.call("GET", "/v1/activities", key: made.key)
                await doors.doors.storeUses(olderThan: AccessControl.useKept)
                return AccessControl(pepper: Pepper(), records: await doors.relay.keys())
                    .record(id: made.id, of: DoorsUnderTest.tenant)?.lastUsedAt
            }
            hand.turn(.hours(100))
            #expect(try await use() == hand.now)
            hand.turn(.hours(-100))
            #expect(try await use() == hand.now)
            hand.turn(.hours(2))
            #expect(try await use() == hand.now)
        }
    }

    @Test func `last uses go to the log at most once an hour, and never bring a key back`()
        async throws
    {
        try await Self.with { doors, hand in
            let access = doors.doors.access
            let made = try await Self.mint(#"{"scopes":["observe"]}"#, doors)
            func stored() async throws -> KeyRecord? {
                AccessControl(pepper: Pepper(), records: await doors.relay.keys())
                    .record(id: made.id, of: DoorsUnderTest.tenant)
            }
            func use() async throws {
                #expect(
                    try await doors.call("GET", "/v1/activities", key: made.key).status == 200)
                await doors.doors.storeUses(olderThan: AccessControl.useKept)
            }
            try await use()
            let first = hand.now
            #expect(try await stored()?.lastUsedAt == first)
            hand.turn(.hours(1))
            try await use()
            #expect(try await stored()?.lastUsedAt == first)
            hand.turn(.seconds(1))
            try await use()
            #expect(try await stored()?.lastUsedAt == hand.now)
            hand.turn(.seconds(5))
            _ = try await doors.call("GET", "/v1/activities", key: made.key)
            await doors.doors.storeUses()
            #expect(try await stored()?.lastUsedAt == hand.now)
            hand.turn(.seconds(5))
            _ = try await doors.call("GET", "/v1/activities", key: made.key)
            access.leaving.insert(made.id)
            #expect(!access.usesToStore(olderThan: .zero).contains { $0.id == made.id })
            access.leaving.remove(made.id)
            _ = try await doors.call("DELETE", "/v1/keys/\(made.id)")
            await doors.doors.storeUses()
            #expect(try await stored() == nil)
        }
    }

    @Test func `a key that expired is listed for thirty days of the clock that nobody sets`()
        async throws
    {
        try await Self.with { doors, hand in
            let notes = Mutex<[OperatorNote]>([])
            doors.doors.report = { note in notes.withLock { $0.append(note) } }
            let made = try await Self.mint(
                #"{"scopes":["observe"],"expires_in":"1h"}"#, doors)
            func isListed() async throws -> Bool {
                try await doors.call("GET", "/v1/keys").text.contains(made.id)
            }
            let steady = Instant(seconds: 1_000_000)
            // The wall clock alone jumps ahead by years, and is set right again.
            hand.turn(.hours(24 * 1_000))
            await doors.doors.deleteOutlived(at: steady)
            #expect(try await isListed())
            hand.turn(.hours(-24 * 1_000))
            await doors.doors.deleteOutlived(at: steady + AccessControl.expiredKept + .seconds(1))
            #expect(
                try await doors.call("GET", "/v1/activities", key: made.key).status == 200)
            hand.turn(.hours(1))
            let seen = steady + .hours(24 * 90)
            await doors.doors.deleteOutlived(at: seen)
            // The log knows since when, for the relay that comes after.
            let again = AccessControl(
                pepper: Pepper(), records: await doors.relay.keys(), now: { hand.now })
            #expect(again.record(id: made.id, of: DoorsUnderTest.tenant)?.expiredSince == seen)
            await doors.doors.deleteOutlived(at: seen + AccessControl.expiredKept)
            #expect(try await isListed())
            #expect(notes.withLock { $0.map(\.event) } == [.deed])
            let after = seen + AccessControl.expiredKept + .milliseconds(1)
            await doors.doors.deleteOutlived(at: after)
            #expect(try await !isListed())
            #expect(notes.withLock { $0.map(\.event) } == [.deed, .keyDeleted])
        }
    }
}
