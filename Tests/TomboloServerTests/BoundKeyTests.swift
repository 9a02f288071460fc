import Testing
import TomboloCore
import TomboloJSON

@testable import TomboloServer

/// A device's key and whose device it registers.
@Suite struct BoundKeyTests {
    private static func mint(
        _ doors: DoorsUnderTest, _ body: String
    ) async throws -> String {
        let answer = try await doors.call("POST", "/v1/keys", body)
        #expect(answer.status == 201)
        return try #require(try json(answer)["key"]?.string)
    }

    @Test func `a device's key that is bound to no user gets nobody's cards`() async throws {
        try await withDoors { doors in
            _ = try await doors.call(
                "PUT", "/v1/activities/cat-7",
                #"{"type":"Runner","audience":{"user":"victim"},"state":{"secret":"s3cr3t"}}"#)
            let key = try await doors.mint("device:mallory")
            let body = #"{"app":"com.example.app","user":"victim"}"#
            for query in ["", "?dry_run=true"] {
                let answer = try await doors.call(
                    "PUT", "/v1/devices/mallory\(query)", body, key: key)
                #expect(answer.status == 403)
                let problem = try json(answer)
                #expect(problem["code"]?.string == "user-not-bound")
                #expect(
                    problem["errors"]?.elements.compactMap { $0["pointer"]?.string } == ["/user"])
            }
            #expect(try await doors.call("GET", "/v1/devices/mallory").status == 404)
            #expect(doors.sender.pushes.isEmpty)
        }
    }

    @Test func `a device's key registers its device for the user and the app it is bound to`()
        async throws
    {
        try await withDoors { doors in
            let key = try await Self.mint(
                doors, #"{"scopes":["device:phone-1"],"user":"u42","app":"com.example.app"}"#)
            let path = "/v1/devices/phone-1"
            // What is left out is the key's.
            #expect(try await doors.call("PUT", path, "{}", key: key).status == 201)
            let view = try json(try await doors.call("GET", path))
            #expect(view["user"]?.string == "u42")
            #expect(view["app"]?.string == "com.example.app")
            let own = #"{"user":"u42","app":"com.example.app"}"#
            #expect(try await doors.call("PUT", path, own, key: key).status == 200)
            for other in [#"{"user":"u43"}"#, #"{"app":"com.example.other"}"#] {
                let answer = try await doors.call("PUT", path, other, key: key)
                #expect(answer.status == 403)
                #expect(try json(answer)["code"]?.string == "user-not-bound")
            }
        }
    }

    @Test func `what an operator has set stays when the device registers with an unbound key`()
        async throws
    {
        try await withDoors { doors in
            let path = "/v1/devices/phone-1"
            let key = try await doors.mint("device:phone-1")
            #expect(try await doors.call("PUT", path, #"{"user":"u42"}"#).status == 201)
            #expect(try await doors.call("PUT", path, #"{"os":"26.1"}"#, key: key).status == 200)
            #expect(
                try await doors.call("PUT", path, #"{"user":"u42"}"#, key: key).status == 200)
            #expect(
                try await doors.call("PUT", path, #"{"user":"u43"}"#, key: key).status == 403)
            let view = try json(try await doors.call("GET", path))
            #expect(view["user"]?.string == "u42")
        }
    }

    @Test func `a binding without a device's scope is refused`() async throws {
        try await withDoors { doors in
            for (body, pointer) in [
                (#"{"scopes":["produce"],"user":"u42"}"#, "/user"),
                (#"{"scopes":["operate"],"app":"com.example.app"}"#, "/app"),
                (#"{"scopes":["device:a"],"user":""}"#, "/user"),
                (#"{"scopes":["device:a"],"user":7}"#, "/user"),
            ] {
                let answer = try await doors.call("POST", "/v1/keys", body)
                #expect(answer.status == 422, "\(body)")
                #expect(
                    try json(answer)["errors"]?.elements.compactMap { $0["pointer"]?.string }
                        == [pointer])
            }
        }
    }

    @Test func `a key's binding survives in its record, and is listed`() async throws {
        let access = AccessControl(pepper: Pepper(), records: [])
        let scopes = try #require(ScopeSet(list: "device:phone-1"))
        let minted = access.mint(
            environment: "test", tenant: DoorsUnderTest.tenant, scopes: scopes,
            binding: KeyBinding(user: "u42", app: "com.example.app"), now: Instant(seconds: 0))
        let record = try #require(
            KeyRecord(number: minted.record.number, encoded: minted.encoded))
        #expect(record == minted.record)
        var writer = JSONWriter()
        record.write(to: &writer)
        #expect(writer.json.document.root["user"]?.string == "u42")
        #expect(writer.json.document.root["app"]?.string == "com.example.app")
    }
}
