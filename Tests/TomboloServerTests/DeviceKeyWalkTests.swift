import Testing
import TomboloCore
import TomboloJSON

@testable import TomboloServer

/// Each door of a device and of its timelines, from the route table, with keys of the device that
/// may not use it.
@Suite struct DeviceKeyWalkTests {
    private static let routes = RouteTable.routes.filter {
        [.ownDevice, .ownDeviceOrObserve, .anyDeviceOrObserve].contains($0.access)
    }

    /// What each is asked with; nil: nothing. A door that is new needs a row.
    private static let bodies: [TomboloServer.Operation: String?] = [
        .registerDevice: "{}", .showDevice: nil, .checkDevice: nil,
        .deleteDevice: nil,
        .registerToken: #"{"token":"aa11"}"#, .deleteToken: #"{"token":"aa11"}"#,
        .reconcileTokens: #"{"tokens":{}}"#, .reportPresence: #"{"phase":"active"}"#,
        .reportActivity: #"{"phase":"active"}"#,
        .postAction: #"{"activity":"x","at":"2026-11-18T11:06:40Z"}"#,
        .timelineEntries: nil, .timelineSnapshot: nil, .timelinePlaceholder: nil,
        .timelineChoices: nil,
    ]

    private static let phone = "/v1/devices/phone-1"

    private static func mint(_ doors: DoorsUnderTest, user: String?) async throws -> String {
        let binding = user.map { #","user":"\#($0)""# } ?? ""
        let answer = try await doors.call(
            "POST", "/v1/keys", #"{"scopes":["device:phone-1"]\#(binding)}"#)
        return try #require(try json(answer)["key"]?.string)
    }

    private static func set(_ doors: DoorsUnderTest, _ body: String) async throws {
        #expect((200...201).contains(try await doors.call("PUT", phone, body).status))
    }

    /// Expects one answer of each door, and of each dry run, and that the device stays as it is.
    private static func walk(
        _ doors: DoorsUnderTest, _ key: String, _ status: Int, _ code: String,
        besides: TomboloServer.Operation? = nil
    ) async throws {
        let before = try await doors.call("GET", phone).text
        for route in routes where route.operation != besides {
            let body = try #require(bodies[route.operation], "\(route.operation) has no row")
            for query in route.query.contains("dry_run") ? ["?dry_run=true", ""] : [""] {
                let path = ScopeWalkTests.path(route) + query
                let answer = try await doors.call(route.method, path, body, key: key)
                #expect(answer.status == status, "\(route.method) \(path): \(answer.text)")
                #expect(
                    try json(answer)["code"]?.string == code, "\(route.method) \(path)")
                // What the key may not read, the refusal does not say either.
                for user in ["u1", "u2"] { #expect(!answer.text.contains(user)) }
            }
        }
        let after = try await doors.call("GET", phone).text
        #expect(Self.withoutTrace(after) == Self.withoutTrace(before))
    }

    private static func withoutTrace(_ text: String) -> Substring {
        text.split(separator: "\n").last?.prefix { $0 != "," } ?? ""
    }

    @Test func `the key of a former user opens no door of the device`() async throws {
        try await withDoors { doors in
            let first = try await Self.mint(doors, user: "u1")
            #expect(try await doors.call("PUT", Self.phone, "{}", key: first).status == 201)
            try await Self.set(doors, #"{"user":"u2"}"#)
            try await Self.walk(doors, first, 403, "key-of-former-user")
            // Where the user is forgotten, so is each that was minted before that.
            let second = try await Self.mint(doors, user: "u2")
            #expect(try await doors.call("GET", Self.phone, key: second).status == 200)
            try await Self.set(doors, #"{"user":null}"#)
            for key in [first, second] {
                try await Self.walk(doors, key, 403, "key-of-former-user")
            }
            // The next one signs in, also for a user of before.
            let third = try await Self.mint(doors, user: "u1")
            #expect(try await doors.call("PUT", Self.phone, "{}", key: third).status == 200)
            #expect(try await doors.call("GET", Self.phone, key: third).status == 200)
            try await Self.walk(doors, second, 403, "key-of-former-user")
        }
    }

    @Test func `the key of a deleted device registers it again, and does nothing else`()
        async throws
    {
        try await withDoors { doors in
            let (bound, free) = (
                try await Self.mint(doors, user: "u1"), try await Self.mint(doors, user: nil)
            )
            let later = try await Self.mint(doors, user: "u2")
            #expect(try await doors.call("PUT", Self.phone, "{}", key: bound).status == 201)
            #expect(try await doors.call("PUT", Self.phone, "{}", key: later).status == 200)
            for key in [later, free] {
                #expect(try await doors.call("DELETE", Self.phone).status == 200)
                try await Self.walk(
                    doors, key, 404, "unknown-device", besides: .registerDevice)
                // Whose it was is not forgotten with it.
                try await Self.walk(doors, bound, 403, "key-of-former-user")
                #expect(try await doors.call("PUT", Self.phone, "{}", key: key).status == 201)
                try await Self.walk(doors, bound, 403, "key-of-former-user")
                #expect(
                    try await doors.call("GET", Self.phone, key: later).status
                        == (key == later ? 200 : 403))
            }
        }
    }

    @Test func `the key of a user to come opens no door before its own PUT`() async throws {
        try await withDoors { doors in
            let first = try await Self.mint(doors, user: "u1")
            let (coming, free) = (
                try await Self.mint(doors, user: "u2"), try await Self.mint(doors, user: nil)
            )
            func refuse(_ key: String) async throws {
                try await Self.walk(
                    doors, key, 403, "key-not-signed-in", besides: .registerDevice)
            }
            #expect(try await doors.call("PUT", Self.phone, "{}", key: first).status == 201)
            for key in [coming, free] { try await refuse(key) }
            #expect(try await doors.call("PUT", Self.phone, "{}", key: coming).status == 200)
            #expect(try await doors.call("GET", Self.phone, key: coming).status == 200)
            try await Self.walk(doors, first, 403, "key-of-former-user")
            // A device without a user is open to a key without one, and to no other.
            try await Self.set(doors, #"{"user":null}"#)
            #expect(try await doors.call("GET", Self.phone, key: free).status == 200)
            try await refuse(try await Self.mint(doors, user: "u2"))
        }
    }

    @Test func `no key from before an erasure opens the device again`() async throws {
        try await withDoors { doors in
            let keys = [
                try await Self.mint(doors, user: "u1"), try await Self.mint(doors, user: nil),
            ]
            #expect(try await doors.call("PUT", Self.phone, "{}", key: keys[0]).status == 201)
            #expect(try await doors.call("POST", Self.phone + "/erase").status == 200)
            func refuse() async throws {
                for key in keys { try await Self.walk(doors, key, 403, "key-of-former-user") }
            }
            try await refuse()
            let next = try await Self.mint(doors, user: "u1")
            #expect(try await doors.call("PUT", Self.phone, "{}", key: next).status == 201)
            try await refuse()
            #expect(try await doors.call("DELETE", Self.phone).status == 200)
            try await refuse()
            try await Self.set(doors, #"{"user":"u2"}"#)
            try await refuse()
        }
    }

    @Test func `a device that nobody ever had knows no former user's key`() async throws {
        try await withDoors { doors in
            let key = try await Self.mint(doors, user: "u1")
            try await Self.set(doors, #"{"os":"26.1"}"#)
            #expect(try await doors.call("PUT", Self.phone, "{}", key: key).status == 200)
            #expect(try await doors.call("GET", Self.phone, key: key).status == 200)
            // An operator says the same again.
            try await Self.set(doors, #"{"user":"u1"}"#)
            #expect(try await doors.call("PUT", Self.phone, "{}", key: key).status == 200)
        }
    }

    @Test func `a key that replaces another is as former as that`() async throws {
        try await withDoors { doors in
            func rotate(_ key: String) async throws -> String {
                let id = try #require(key.split(separator: "_").dropFirst(2).first)
                let answer = try await doors.call("POST", "/v1/keys/\(id)/rotate", "{}")
                return try #require(try json(answer)["key"]?.string)
            }
            let first = try await Self.mint(doors, user: "u1")
            let second = try await Self.mint(doors, user: "u2")
            #expect(try await doors.call("PUT", Self.phone, "{}", key: first).status == 201)
            // It does not pass the one that was minted after the first.
            let next = try await rotate(first)
            #expect(try await doors.call("PUT", Self.phone, "{}", key: next).status == 200)
            #expect(try await doors.call("PUT", Self.phone, "{}", key: second).status == 200)
            try await Self.walk(doors, try await rotate(next), 403, "key-of-former-user")
        }
    }

    @Test func `an operator who says nothing of the user changes nobody's key`() async throws {
        try await withDoors { doors in
            let key = try await Self.mint(doors, user: "u1")
            #expect(try await doors.call("PUT", Self.phone, "{}", key: key).status == 201)
            #expect(try await doors.call("DELETE", Self.phone).status == 200)
            try await Self.set(doors, #"{"os":"26.1"}"#)
            #expect(try await doors.call("PUT", Self.phone, "{}", key: key).status == 200)
            try await Self.set(doors, #"{"user":null}"#)
            try await Self.walk(doors, key, 403, "key-of-former-user")
        }
    }

    @Test func `a number of a key is not given twice, also after the newest is deleted`() {
        var order = KeyOrder(record: Array(#"{"newest":7}"#.utf8))
        #expect(order?.newest == 7)
        order = KeyOrder(record: Array("{}".utf8))
        #expect(order == nil)
        let access = AccessControl(
            pepper: Pepper(), records: [(KeyOrder.number, Array(#"{"newest":7}"#.utf8))])
        let minted = access.mint(
            environment: "test", tenant: DoorsUnderTest.tenant, scopes: .all,
            now: Instant(seconds: 0))
        #expect(minted.record.number == 8)
        #expect(access.unreadable.isEmpty)
    }
}
