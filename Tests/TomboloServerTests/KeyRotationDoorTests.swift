import Testing
import TomboloCore
import TomboloJSON
import TomboloRelay

@testable import TomboloServer

/// What a rotation does when something else happens to its key.
@Suite struct KeyRotationDoorTests {
    private static func mint(_ body: String, _ doors: DoorsUnderTest) async throws -> String {
        let answer = try await doors.call("POST", "/v1/keys", body)
        return try #require(try json(answer)["id"]?.string)
    }

    private static func code(_ answer: CurlAnswer) throws -> String? {
        try json(answer)["code"]?.string
    }

    @Test func `a later rotation ends the key no later, and its successor lives as it did`()
        async throws
    {
        let hand = HandClock()
        try await withDoors(clock: hand) { doors in
            let id = try await Self.mint(#"{"scopes":["observe"],"expires_in":"100h"}"#, doors)
            let endless = try await Self.mint(#"{"scopes":["observe"]}"#, doors)
            for grace in ["1m", "10h"] {
                hand.turn(.seconds(10))
                let answer = try json(
                    try await doors.call(
                        "POST", "/v1/keys/\(id)/rotate", "{\"grace\":\"\(grace)\"}"))
                #expect(answer["expires_at"]?.string == (hand.now + .hours(100)).rfc3339)
                let second = try json(
                    try await doors.call(
                        "POST", "/v1/keys/\(endless)/rotate", "{\"grace\":\"\(grace)\"}"))
                #expect(second["expires_at"] == nil)
            }
            let end = FixedClock().now() + .seconds(70)
            let access = doors.doors.access
            #expect(access.record(id: id, of: DoorsUnderTest.tenant)?.traits.expiresAt == end)
            // As the log has them.
            let again = AccessControl(pepper: Pepper(), records: await doors.relay.keys())
            let kept = try #require(again.record(id: id, of: DoorsUnderTest.tenant))
            #expect(kept.traits.expiresAt == end)
            #expect(kept.life == .hours(100))
            let other = try #require(again.record(id: endless, of: DoorsUnderTest.tenant))
            #expect(other.traits.expiresAt == end && other.life == nil)
        }
    }

    @Test func `two rotations at once make one successor, and the old key ends`() async throws {
        let hand = HandClock()
        try await withDoors(clock: hand) { doors in
            let id = try await Self.mint(#"{"scopes":["observe"]}"#, doors)
            let path = "/v1/keys/\(id)/rotate"
            let access = doors.doors.access
            access.rotating.insert(id)
            let refused = try await doors.call("POST", path, #"{"grace":"720h"}"#)
            #expect(refused.status == 409)
            #expect(try Self.code(refused) == "key-not-rotated")
            // A use that is stored meanwhile would bring the old end back.
            access.keys[id]?.lastUsedAt = hand.now
            #expect(access.usesToStore(olderThan: .zero).allSatisfy { $0.id != id })
            access.rotating.remove(id)
            #expect(try await doors.call("POST", path).status == 201)
        }
    }

    @Test func `an expired key is not rotated`() async throws {
        let hand = HandClock()
        try await withDoors(clock: hand) { doors in
            let id = try await Self.mint(#"{"scopes":["observe"],"expires_in":"1h"}"#, doors)
            hand.turn(.hours(1))
            for query in ["", "?dry_run=true"] {
                let refused = try await doors.call("POST", "/v1/keys/\(id)/rotate\(query)")
                #expect(refused.status == 409)
                #expect(try Self.code(refused) == "key-not-rotated")
            }
        }
    }

    @Test func `a key that rotates itself opens for a minute at least`() async throws {
        try await withDoors { doors in
            let own = try #require(doors.key.split(separator: "_").dropFirst(2).first)
            let path = "/v1/keys/\(own)/rotate"
            let refused = try await doors.call("POST", path, #"{"grace":"59s"}"#)
            #expect(refused.status == 409)
            #expect(try Self.code(refused) == "own-key")
            #expect(try await doors.call("POST", path, #"{"grace":"60s"}"#).status == 201)
            #expect(try await doors.call("GET", "/v1/keys").status == 200)
        }
    }

    @Test func `a key that is being deleted gets no successor`() async throws {
        try await withDoors { doors in
            let id = try await Self.mint(#"{"scopes":["observe"]}"#, doors)
            let count = await doors.relay.keys().count
            doors.doors.access.leaving.insert(id)
            #expect(try await doors.call("POST", "/v1/keys/\(id)/rotate").status == 404)
            #expect(await doors.relay.keys().count == count)
        }
    }
}
