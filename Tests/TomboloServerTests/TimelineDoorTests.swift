import Testing
import TomboloJSON

@testable import TomboloServer

@Suite struct TimelineDoorTests {
    private static let profile =
        #"{"subject":{"user":"u42"},"content":{"rank":3},"url":"app://me","links":["app://a"]}"#

    @Test func `a timeline is put, listed, shown, put again and deleted`() async throws {
        try await withDoors { doors in
            let path = "/v1/timelines/profile"
            let dry = try await doors.call("PUT", path + "?dry_run=true", Self.profile)
            #expect(dry.status == 200)
            #expect(try json(dry)["dry_run"]?.bool == true)
            #expect(try await doors.call("GET", path + "?user=u42").status == 404)
            let put = try await doors.call("PUT", path, Self.profile)
            #expect(put.status == 201)
            #expect(try json(put)["reload"]?["wanted"]?.integer == 0)
            let again = try await doors.call("PUT", path, Self.profile)
            #expect(again.status == 200)
            #expect(try json(again)["result"]?.string == "updated")
            let view = try json(try await doors.call("GET", path + "?user=u42"))
            #expect(view["content"]?["rank"]?.integer == 3)
            #expect(view["app"]?.string == "com.example.app")
            #expect(view["due_at"]?.isNull == true)
            for user in ["a/b", "c"] {
                _ = try await doors.call(
                    "PUT", path, Self.profile.replacing("u42", with: user))
            }
            let first = try json(try await doors.call("GET", "/v1/timelines?limit=1"))
            #expect(first["timelines"]?.elements.map { $0["subject"]?["user"]?.string } == ["a/b"])
            let cursor = try #require(first["next_cursor"]?.string)
            let rest = try json(
                try await doors.call(
                    "GET", "/v1/timelines?kind=profile&cursor=\(cursor.replacing("/", with: "%2F"))"
                ))
            #expect(
                rest["timelines"]?.elements.map { $0["subject"]?["user"]?.string } == ["c", "u42"])
            #expect(rest["next_cursor"]?.isNull == true)
            #expect(try await doors.call("GET", path).status == 400)
            #expect(try await doors.call("GET", path + "?user=u42&device=d").status == 400)
            #expect(try await doors.call("DELETE", path + "?user=u42&dry_run=true").status == 200)
            let gone = try await doors.call("DELETE", path + "?user=u42")
            #expect(try json(gone)["result"]?.string == "deleted")
            #expect(try await doors.call("DELETE", path + "?user=u42").status == 404)
        }
    }

    @Test func `a widget asks again at no cost, and small families get no links`() async throws {
        try await withDoors { doors in
            _ = try await doors.call("PUT", "/v1/timelines/profile", Self.profile)
            let path = "/v1/timelines/profile/entries?user=u42"
            let first = try await doors.call("GET", path)
            let tag = try #require(first.fields["etag"])
            #expect(first.fields["cache-control"] == "private, no-cache")
            let known = try await doors.call("GET", path, fields: ["If-None-Match: W/\(tag)"])
            #expect(known.status == 304)
            #expect(known.fields["etag"] == tag)
            #expect(known.text.isEmpty)
            _ = try await doors.call(
                "PUT", "/v1/timelines/profile", Self.profile.replacing("3", with: "4"))
            let next = try await doors.call("GET", path, fields: ["If-None-Match: \(tag)"])
            #expect(next.status == 200)
            func links(_ family: String) async throws -> Int? {
                let answer = try json(try await doors.call("GET", path + "&family=\(family)"))
                return answer["entries"]?.elements.first { _ in true }?["links"]?.count
            }
            #expect(try await links("systemMedium") == 1)
            #expect(try await links("systemSmall") == nil)
            #expect(try await links("accessoryInline") == nil)
            let wrong = try await doors.call("GET", path + "&family=systemSmal")
            #expect(wrong.status == 400)
            #expect(wrong.text.contains("systemSmall"))
        }
    }

    @Test func `each family gets its cut, and a snapshot or a choice has no more`() async throws {
        try await withDoors { doors in
            _ = try await doors.call(
                "PUT", "/v1/types/Door",
                #"{"families":{"systemSmall":["/name"],"accessoryInline":["/locked"]}}"#)
            let put = try await doors.call(
                "PUT", "/v1/timelines/door",
                #"{"subject":{"key":"d","readers":{"users":["u42"]}},"type":"Door","#
                    + #""content":{"name":"Main","locked":true,"code":7},"links":["app://a"]}"#)
            #expect(
                try json(put)["lint"]?.elements.compactMap { $0["code"]?.string }
                    == ["links-in-small-families"])
            for (query, content) in [
                ("entries?key=d&family=systemSmall", #"{"name":"Main"}"#),
                ("snapshot?key=d&family=accessoryInline", #"{"locked":true}"#),
                ("entries?key=d", #"{"name":"Main","locked":true}"#),
            ] {
                let answer = try json(try await doors.call("GET", "/v1/timelines/door/" + query))
                let first = answer["entries"]?.elements.first { _ in true }
                #expect(first?["content"]?.json.description == content)
                #expect(answer["type"]?.string == "Door")
            }
            let choices = try await doors.call(
                "GET", "/v1/timelines/door/choices?family=systemSmall")
            #expect(choices.text.contains(#"{"name":"Main"}"#))
            let large = try await doors.call(
                "GET", "/v1/timelines/door/entries?key=d&family=systemLarge")
            #expect(large.status == 422)
            #expect(large.text.contains("systemSmall, accessoryInline"))
        }
    }

    @Test func `why a widget shows what it shows`() async throws {
        try await withDoors { doors in
            let path = "/v1/timelines/profile/explain?device=phone"
            #expect(try await doors.call("GET", path).status == 404)
            #expect(try await doors.call("GET", "/v1/timelines/profile/explain").status == 400)
            _ = try await doors.call("PUT", "/v1/devices/phone", #"{"user":"u42","os":"26.1"}"#)
            func codes() async throws -> [String] {
                let answer = try json(try await doors.call("GET", path))
                #expect(answer["question"]?.string?.contains("profile on phone") == true)
                return answer["because"]?.elements.compactMap { $0["code"]?.string } ?? []
            }
            #expect(try await codes() == ["no_timeline", "no_reload", "no_token"])
            _ = try await doors.call("PUT", "/v1/timelines/profile", Self.profile)
            #expect(try await codes() == ["timeline", "no_reload", "no_token"])
            let minted = try json(
                try await doors.call(
                    "POST", "/v1/keys", #"{"scopes":["device:phone"],"user":"u42"}"#))
            let key = try #require(minted["key"]?.string)
            let entries = "/v1/timelines/profile/entries?family=systemSmall"
            #expect(try await doors.call("GET", entries, key: key).status == 200)
            #expect(try await codes().contains("fetched"))
            _ = try await doors.call(
                "PUT", "/v1/timelines/profile", Self.profile.replacing("3", with: "4"))
            #expect(try await codes().contains("fetched_before"))
            // Another widget, and what an operator reads, are no fetches of this one.
            _ = try await doors.call("GET", "/v1/timelines/other/entries?key=k", key: key)
            _ = try await doors.call("GET", "/v1/timelines/profile/entries?user=u42")
            #expect(try await codes().contains("fetched_before"))
            // A cut that the type does not have is refused, and is none any more when it has.
            _ = try await doors.call(
                "PUT", "/v1/types/P", #"{"families":{"systemLarge":["/rank"]}}"#)
            _ = try await doors.call(
                "PUT", "/v1/timelines/profile", String(Self.profile.dropLast()) + #","type":"P"}"#)
            #expect(try await doors.call("GET", entries, key: key).status == 422)
            #expect(try await codes().contains("fetch_refused"))
            let refused = try await doors.call("GET", path)
            #expect(refused.text.contains("The relay refuses systemSmall"))
            _ = try await doors.call(
                "PUT", "/v1/types/P", #"{"families":{"systemSmall":["/rank"]}}"#)
            #expect(try await doors.call("GET", path).text.contains("now it would get entries"))
            // Another person has the device: what was fetched is not this one's.
            _ = try await doors.call("PUT", "/v1/devices/phone", #"{"user":"u43","os":"26.1"}"#)
            #expect(try await codes() == ["no_timeline", "no_reload", "no_token"])
        }
    }

    @Test func `why of a widget with the key of another user names the key`() async throws {
        try await withDoors { doors in
            func key(_ user: String) async throws -> String {
                let minted = try await doors.call(
                    "POST", "/v1/keys", #"{"scopes":["device:phone"],"user":"\#(user)"}"#)
                return try #require(try json(minted)["key"]?.string)
            }
            func why(_ key: String, _ status: Int) async throws -> String {
                let path = "/v1/timelines/profile/"
                let fetch = try await doors.call("GET", path + "entries", key: key)
                #expect(fetch.status == status)
                return try await doors.call("GET", path + "explain?device=phone").text
            }
            let (former, own) = (try await key("u1"), try await key("u42"))
            let phone = "/v1/devices/phone"
            let first = try await doors.call("PUT", phone, "{}", key: former)
            #expect(first.status == 201 && !first.text.contains("former-key-lives"))
            let put = try await doors.call("PUT", phone, "{}", key: own)
            #expect(put.text.contains("former-key-lives"))
            #expect(!(try await doors.call("PUT", phone, "{}", key: own)).text.contains("former-"))
            _ = try await doors.call("PUT", "/v1/timelines/profile", Self.profile)
            #expect(try await why(own, 200).contains("has fetched what the relay has"))
            let refused = try await why(former, 403)
            #expect(refused.contains("The relay refuses its key (key-of-former-user)"))
            #expect(!refused.contains("has fetched") && !refused.contains("now it would"))
            let other = try await why(try await key("u3"), 403)
            #expect(other.contains("has not signed in on this device"))
        }
    }

    @Test func `until the next boundary a widget may show what it has`() async throws {
        try await withDoors { doors in
            _ = try await doors.call(
                "PUT", "/v1/timelines/ends",
                """
                {"subject":{"user":"u42"},"content":{"a":1},
                "entries":[{"date":"2200-01-01T00:00:00Z","content":{"a":2}}]}
                """)
            let answer = try await doors.call("GET", "/v1/timelines/ends/entries?user=u42")
            let control = try #require(answer.fields["cache-control"])
            let age = Int(control.split(separator: "=").last ?? "")
            #expect(control.hasPrefix("private, no-cache, max-age="))
            #expect((age ?? 0) > 4_000_000_000)
            #expect(try json(answer)["entries"]?.count == 2)
            let snapshot = try await doors.call("GET", "/v1/timelines/ends/snapshot?user=u42")
            #expect(try json(snapshot)["entries"]?.count == 1)
        }
    }

    @Test func `a device sees what is its own, and learns nothing of others`() async throws {
        try await withDoors { doors in
            let phone = try await doors.mint("device:phone", user: "u42")
            _ = try await doors.call(
                "PUT", "/v1/devices/phone", #"{"user":"u42","environment":"sandbox"}"#)
            _ = try await doors.call("PUT", "/v1/timelines/profile", Self.profile)
            for (door, user) in [("7", "u42"), ("8", "u43")] {
                _ = try await doors.call(
                    "PUT", "/v1/timelines/door",
                    """
                    {"subject":{"key":"door-\(door)","readers":{"users":["\(user)"]}},
                    "content":{"door":\(door)}}
                    """)
            }
            func read(_ path: String) async throws -> (Int, String) {
                let answer = try await doors.call("GET", "/v1/timelines/\(path)", key: phone)
                return (answer.status, answer.text)
            }
            #expect(try await read("profile/entries").1.contains(#""rank":3"#))
            #expect(try await read("door/entries?config=door-7").1.contains(#""door":7"#))
            #expect(try await read("door/snapshot").1.contains(#""door":7"#))
            #expect(try await read("door/placeholder").1.contains(#""content":{}"#))
            let choices = try await read("door/choices").1
            #expect(choices.contains("door-7") && !choices.contains("door-8"))
            // A foreign one answers as one that is not there.
            let foreign = try await read("door/entries?config=door-8")
            let unknown = try await read("door/entries?config=door-9")
            #expect(foreign.0 == 404 && unknown.0 == 404)
            let bare = { (text: String) in text.split(separator: "trace_id")[0] }
            #expect(bare(foreign.1.replacing("door-8", with: "door-9")) == bare(unknown.1))
            #expect(try await read("profile?user=u42").0 == 403)
            #expect(try await doors.call("GET", "/v1/timelines", key: phone).status == 403)
            #expect(
                try await doors.call("PUT", "/v1/timelines/profile", Self.profile, key: phone)
                    .status == 403)
            #expect(
                try await doors.call("GET", "/v1/timelines/door/choices?device=a~1").status == 400)
            let two = try await doors.mint("device:phone,device:other", user: "u42")
            #expect(
                try await doors.call("GET", "/v1/timelines/profile/entries", key: two).status
                    == 400)
            let named = try await doors.call(
                "GET", "/v1/timelines/door/choices?device=phone", key: two)
            #expect(named.text.contains("door-7"))
        }
    }
}
