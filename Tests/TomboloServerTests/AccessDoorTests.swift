import Testing
import TomboloCore
import TomboloJSON
import TomboloRelay

@testable import TomboloServer

@Suite struct AccessDoorTests {
    @Test func `a request without a good key is told how to get one`() async throws {
        try await withDoors { doors in
            let key = doors.key
            let cut = String(key.dropLast())
            let unknown = APIKey(environment: "test") { [UInt8](repeating: 7, count: $0) }.text
            let wrongs = [
                ("", "Bearer KEY"), ("Bearer", "Bearer KEY"), ("Basic abc", "Bearer KEY"),
                ("Bearer hello", "tmb_live_"), ("Bearer \(cut)", "check digits"),
                ("Bearer \(unknown)", "not known"),
            ]
            for (field, word) in wrongs {
                let curl = try Curl(
                    [doors.origin + "/v1/activities", "-H", "Authorization: \(field)"],
                    on: doors.loop)
                _ = await curl.wait()
                let answer = try #require(CurlAnswer(output: curl.collected))
                #expect(answer.status == 401)
                #expect(answer.fields["www-authenticate"] == "Bearer realm=\"tombolo\"")
                let detail = try json(answer)["detail"]?.string ?? ""
                #expect(detail.contains(word), "\(detail)")
                #expect(!detail.contains(key))
                // The relay holds its data directory: it makes the key itself.
                #expect(!detail.contains("--data"), "\(detail)")
            }
        }
    }

    @Test func `a key without the scope is told which, and the command that mints one`()
        async throws
    {
        try await withDoors { doors in
            let observer = try await doors.mint("observe")
            let answer = try await doors.call(
                "PUT", "/v1/activities/x", startCat, key: observer)
            #expect(answer.status == 403)
            let problem = try json(answer)
            #expect(problem["required_scope"]?.string == "produce")
            #expect(
                problem["detail"]?.string?.contains(
                    "tombolo key mint --scope produce,observe --relay ORIGIN --key KEY") == true)
        }
    }

    @Test func `a device's key is its own device's only`() async throws {
        try await withDoors { doors in
            let key = try await doors.mint("device:phone-1")
            let body = #"{"app":"com.example.app"}"#
            let own = try await doors.call("PUT", "/v1/devices/phone-1", body, key: key)
            #expect(own.status == 201)
            #expect(try await doors.call("GET", "/v1/devices/phone-1", key: key).status == 200)
            let other = try await doors.call("PUT", "/v1/devices/phone-2", body, key: key)
            #expect(other.status == 403)
            let raised = try await doors.call(
                "PUT", "/v1/devices/phone-1",
                #"{"app":"com.example.app","budget_class":"lab"}"#, key: key)
            #expect(raised.status == 403)
            #expect(try json(raised)["required_scope"]?.string == "operate")
        }
    }

    @Test func `a key is minted, listed without its secret, used and deleted`() async throws {
        try await withDoors { doors in
            let minted = try await doors.call(
                "POST", "/v1/keys", #"{"scopes":["produce","observe"]}"#)
            #expect(minted.status == 201)
            #expect(minted.fields["cache-control"] == "no-store")
            let view = try json(minted)
            let key = try #require(view["key"]?.string)
            let id = try #require(view["id"]?.string)
            #expect(try await doors.call("GET", "/v1/log", key: key).status == 200)
            let list = try await doors.call("GET", "/v1/keys")
            #expect(list.text.contains(id))
            #expect(!list.text.contains(key))
            #expect(try await doors.call("DELETE", "/v1/keys/\(id)").status == 200)
            #expect(try await doors.call("GET", "/v1/log", key: key).status == 401)
            #expect(await doors.relay.keys().allSatisfy { $0.number == KeyOrder.number })
        }
    }

    @Test func `a key cannot delete itself`() async throws {
        try await withDoors { doors in
            let own = try #require(doors.key.split(separator: "_").dropFirst(2).first)
            let answer = try await doors.call("DELETE", "/v1/keys/\(own)")
            #expect(answer.status == 409)
            #expect(try json(answer)["code"]?.string == "own-key")
        }
    }

    @Test func `another tenant's key sees nothing, and cannot tell that it is there`() async throws
    {
        try await withDoors { doors in
            _ = try await doors.call("PUT", "/v1/activities/cat-7", startCat)
            let other = TenantID(try #require(Identifier("other")))
            let key = try await doors.mint("all", tenant: other)
            let foreign = try await doors.call("GET", "/v1/activities/cat-7", key: key)
            let unknown = try await doors.call("GET", "/v1/activities/cat-8", key: key)
            #expect(foreign.status == 404)
            #expect(
                try json(foreign)["detail"]?.string?.replacing("cat-7", with: "cat-8")
                    == json(unknown)["detail"]?.string)
            #expect(
                try json(try await doors.call("GET", "/v1/log", key: key))["events"]?.count == 0)
            #expect(try await doors.call("GET", "/v1/log/1", key: key).status == 404)
            #expect(
                try json(try await doors.call("GET", "/v1/keys", key: key))["keys"]?.count == 1)
        }
    }
}
