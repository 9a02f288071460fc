import Testing
import TomboloCore
import TomboloJSON
import TomboloRelay

@testable import TomboloServer

/// What `POST /v1/keys` takes and keeps at most, and how `GET /v1/keys` shows it.
@Suite struct KeyBoundDoorTests {
    @Test(arguments: [
        #"["device:x,operate"]"#, #"["produce,observe"]"#, #"[" operate"]"#, #"["operate "]"#,
        #"["observe",""]"#, #"[]"#, #"["observe",7]"#, #"["all,observe"]"#,
        "[" + Array(repeating: #""observe""#, count: 65).joined(separator: ",") + "]",
    ])
    func `an element of scopes is one scope as it is written`(_ scopes: String) async throws {
        try await withDoors { doors in
            for query in ["", "?dry_run=true"] {
                let answer = try await doors.call(
                    "POST", "/v1/keys\(query)", "{\"scopes\":\(scopes),\"name\":\"m\"}")
                #expect(answer.status == 422, "\(answer.text)")
                #expect(
                    try json(answer)["errors"]?.elements.compactMap { $0["pointer"]?.string }
                        == ["/scopes"])
            }
            #expect(await doors.relay.keys().isEmpty)
        }
    }

    @Test func `sixty-four elements are taken, and a user and an app of 256 characters`()
        async throws
    {
        try await withDoors { doors in
            let scopes = Array(repeating: #""device:a""#, count: 64).joined(separator: ",")
            func body(_ user: Int, _ app: Int) -> String {
                let user = String(repeating: "ü", count: user)
                let app = String(repeating: "a", count: app)
                return "{\"scopes\":[\(scopes)],\"user\":\"\(user)\",\"app\":\"\(app)\"}"
            }
            #expect(try await doors.call("POST", "/v1/keys", body(256, 256)).status == 201)
            for (text, pointer) in [(body(257, 1), "/user"), (body(1, 257), "/app")] {
                let answer = try await doors.call("POST", "/v1/keys", text)
                #expect(answer.status == 422)
                #expect(
                    try json(answer)["errors"]?.elements.compactMap { $0["pointer"]?.string }
                        == [pointer])
            }
        }
    }

    @Test func `a tenant has so many keys, and the limit is named`() async throws {
        try await withDoors(configure: { $0.keysPerTenantMax = 3 }) { doors in
            let other = try await doors.mint("operate", tenant: TenantID(Identifier("other")!))
            var ids: [String] = []
            for _ in 0..<2 {
                let made = try await doors.call("POST", "/v1/keys", #"{"scopes":["observe"]}"#)
                #expect(made.status == 201)
                ids.append(try #require(try json(made)["id"]?.string))
            }
            for (path, body) in [
                ("/v1/keys", #"{"scopes":["observe"]}"#),
                ("/v1/keys?dry_run=true", #"{"scopes":["observe"]}"#),
                ("/v1/keys/\(ids[1])/rotate", "{}"),
            ] {
                let refused = try await doors.call("POST", path, body)
                #expect(refused.status == 429)
                #expect(try json(refused)["code"]?.string == "limit-reached")
                #expect(refused.text.contains("limits.keys_per_tenant"))
            }
            let theirs = try await doors.call(
                "POST", "/v1/keys", #"{"scopes":["observe"]}"#, key: other)
            #expect(theirs.status == 201)
            #expect(try await doors.call("DELETE", "/v1/keys/\(ids[0])").status == 200)
            #expect(
                try await doors.call("POST", "/v1/keys", #"{"scopes":["observe"]}"#).status == 201)
        }
    }

    @Test func `keys are listed in pages, oldest first, and each once`() async throws {
        try await withDoors { doors in
            _ = try await doors.mint("observe", tenant: TenantID(Identifier("other")!))
            var ids: [String] = [String(doors.key.split(separator: "_")[2])]
            for _ in 0..<6 {
                let made = try await doors.call("POST", "/v1/keys", #"{"scopes":["observe"]}"#)
                ids.append(try #require(try json(made)["id"]?.string))
            }
            #expect(try await doors.call("DELETE", "/v1/keys/\(ids.remove(at: 2))").status == 200)
            for limit in 1...7 {
                var listed: [String] = []
                var cursor: String?
                repeat {
                    let after = cursor.map { "&cursor=\($0)" } ?? ""
                    let page = try json(
                        try await doors.call("GET", "/v1/keys?limit=\(limit)\(after)"))
                    let found = page["keys"]?.elements.compactMap { $0["id"]?.string } ?? []
                    #expect(found.count <= limit && !found.isEmpty)
                    listed += found
                    cursor = page["next_cursor"]?.string
                } while cursor != nil
                #expect(listed == ids)
            }
            for query in ["limit=0", "limit=1001", "cursor=x", "cursor=-1"] {
                #expect(try await doors.call("GET", "/v1/keys?\(query)").status == 400, "\(query)")
            }
        }
    }
}
