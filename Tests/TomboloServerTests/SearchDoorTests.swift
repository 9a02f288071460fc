import TestSupport
import Testing
import TomboloCore
import TomboloJSON

@testable import TomboloServer

/// `GET /v1/search`: what begins with a text.
@Suite struct SearchDoorTests {
    private static func found(
        _ doors: DoorsUnderTest, _ text: String, key: String? = nil
    ) async throws -> (rows: [JSONView], isWhole: Bool?) {
        let answer = try await doors.call("GET", "/v1/search?q=\(text)", key: key)
        #expect(answer.status == 200, "\(answer.text)")
        let view = try json(answer)
        return (view["results"].map { Array($0.elements) } ?? [], view["is_whole"]?.bool)
    }

    /// Kind and id of what is found.
    private static func names(
        _ doors: DoorsUnderTest, _ text: String, key: String? = nil
    ) async throws -> [String] {
        try await found(doors, text, key: key).rows.map {
            "\($0["kind"]?.string ?? "") \($0["id"]?.string ?? "")"
        }
    }

    private static func start(_ id: String, user: String) -> (path: String, body: String) {
        (
            "/v1/activities/\(id)",
            #"{"type":"Cat","app":"com.example.app","audience":{"user":"\#(user)"},"state":{}}"#
        )
    }

    /// Two activities, a type, and a device of the user `cara`.
    private static func fill(_ doors: DoorsUnderTest) async throws {
        let device =
            #"{"app":"com.example.app","environment":"sandbox","user":"cara","os":"26.1"}"#
        #expect(try await doors.call("PUT", "/v1/devices/cat-phone", device).status == 201)
        for (id, user) in [("cat-2", "cara"), ("cat-1", "carl"), ("dog", "dora")] {
            let start = start(id, user: user)
            #expect(try await doors.call("PUT", start.path, start.body).status == 201)
        }
        let type = #"{"app":"com.example.app","state":{"type":"object"}}"#
        let put = try await doors.call("PUT", "/v1/types/catType", type)
        #expect((200...201).contains(put.status), "\(put.text)")
    }

    @Test func `each kind is found by the beginning of its id, in the order of ids`() async throws {
        try await withDoors { doors in
            try await Self.fill(doors)
            let (rows, isWhole) = try await Self.found(doors, "ca")
            #expect(isWhole == true)
            #expect(
                rows.map { $0["kind"]?.string } == [
                    "activity", "activity", "device", "user", "user", "type",
                ])
            #expect(
                rows.map { $0["id"]?.string } == [
                    "cat-1", "cat-2", "cat-phone", "cara", "carl", "catType",
                ])
            #expect(rows[0]["type"]?.string == "Cat")
            #expect(rows[0]["status"]?.string == "waiting")
            #expect(rows[2]["user"]?.string == "cara")
            #expect(rows[2]["app"]?.string == "com.example.app")
            #expect(rows[3]["devices"]?.integer == 1)
            #expect(rows[4]["devices"]?.integer == 0, "only an activity names this user")
            #expect(rows[5]["app"]?.string == "com.example.app")
            #expect(try await Self.names(doors, "dog") == ["activity dog"])
            let user = Self.start("carla", user: "car")
            #expect(try await doors.call("PUT", user.path, user.body).status == 201)
            #expect(
                try await Self.names(doors, "car") == [
                    "user car", "activity carla", "user cara", "user carl",
                ], "an exact id comes first")
            #expect(try await Self.names(doors, "Ca").isEmpty, "bytes are compared")
            #expect(try await Self.names(doors, "at-1").isEmpty, "only beginnings are found")
            #expect(try await doors.call("DELETE", "/v1/devices/cat-phone").status < 300)
            #expect(try await Self.names(doors, "cat-p").isEmpty)
        }
    }

    @Test func `another tenant sees nothing of it`() async throws {
        try await withPhone { doors in
            try await Self.fill(doors)
            let start = try await doors.call(
                "PUT", "/v1/activities/cat-3", startCat, fields: ["Prefer: wait=2"])
            let id = try json(start)["deliveries"]?.elements.first { _ in true }?["id"]?.string
            let other = try await doors.mint("operate", tenant: TenantID(Identifier("other")!))
            for text in ["c", "cat-1", "cara", "d", "catType", "dog", id ?? "dlv_1", "dlv_2"] {
                let (rows, isWhole) = try await Self.found(doors, text, key: other)
                #expect(rows.isEmpty, "\(text) finds what is another tenant's")
                #expect(isWhole == true)
            }
            let producer = try await doors.mint("produce")
            let refused = try await doors.call("GET", "/v1/search?q=c", key: producer)
            #expect(refused.status == 403)
        }
    }

    @Test func `of each kind eight are listed, and the ninth is said to be there`() async throws {
        try await withDoors { doors in
            for number in (1...PrefixSearch.perKindMax).reversed() {
                let start = Self.start("cat-\(number)", user: "user-\(number)")
                #expect(try await doors.call("PUT", start.path, start.body).status == 201)
            }
            let full = try await Self.found(doors, "cat")
            #expect(full.rows.count == PrefixSearch.perKindMax)
            #expect(full.isWhole == true)
            // It comes first, and the last one is not listed any more.
            let start = Self.start("cat-0", user: "user-1")
            #expect(try await doors.call("PUT", start.path, start.body).status == 201)
            let more = try await Self.found(doors, "cat")
            #expect(
                more.rows.compactMap { $0["id"]?.string }
                    == (0..<PrefixSearch.perKindMax).map { "cat-\($0)" })
            #expect(more.isWhole == false)
            #expect(try await Self.found(doors, "user").isWhole == true)
        }
    }

    @Test func `a text has 1 to 128 characters`() async throws {
        try await withDoors { doors in
            let longest = String(repeating: "x", count: ServerDoors.searchedMax)
            #expect(try await Self.names(doors, longest).isEmpty)
            let letters = String(repeating: "%C3%A9", count: ServerDoors.searchedMax)
            #expect(try await Self.names(doors, letters).isEmpty, "characters count, not bytes")
            for query in ["", "?q=", "?q=\(longest)x"] {
                let answer = try await doors.call("GET", "/v1/search\(query)")
                #expect(answer.status == 400)
                #expect(try json(answer)["code"]?.string == "invalid-query", "\(answer.text)")
                #expect(answer.text.contains("Give q="))
            }
        }
    }

    @Test func `a delivery is found by its id and by its apns-id`() async throws {
        try await withPhone { doors in
            let start = try await doors.call(
                "PUT", "/v1/activities/cat-7", startCat, fields: ["Prefer: wait=2"])
            let delivery = try #require(json(start)["deliveries"]?.elements.first { _ in true })
            let id = try #require(delivery["id"]?.string)
            let row = try #require(try await Self.found(doors, id).rows.first)
            #expect(row["kind"]?.string == "delivery")
            #expect(row["id"]?.string == id)
            #expect(row["activity"]?.string == "cat-7")
            #expect(row["device"]?.string == "phone-1")
            #expect(row["result"]?.string == "accepted")
            let push = try #require(row["apns_id"]?.string)
            #expect(try await Self.names(doors, push) == ["delivery \(id)"])
            #expect(try await Self.names(doors, push.uppercased()) == ["delivery \(id)"])
            #expect(try await Self.names(doors, String(id.dropLast())).isEmpty)
        }
    }
}
