import Synchronization
import Testing
import TomboloCore
import TomboloEventLog
import TomboloJSON
import TomboloRelay

@testable import TomboloServer

/// Who did it: in the log, and in a line for the operator.
@Suite struct DeedDoorTests {
    /// What was reported.
    private final class Notes: Sendable {
        private let notes = Mutex<[OperatorNote]>([])

        func add(_ note: OperatorNote) { notes.withLock { $0.append(note) } }

        /// `key.minted by ID`, in order.
        var deeds: [String] {
            notes.withLock { all in
                all.filter { $0.event == .deed }.map { "\($0["deed"]) by \($0["by"])" }
            }
        }

        func refused() -> [String] {
            notes.withLock { all in
                all.filter { $0.event == .requestRefused }.map { $0["key"] }
            }
        }
    }

    private static func id(of key: String) throws -> String {
        try #require(key.split(separator: "_").dropFirst(2).first.map(String.init))
    }

    @Test func `each deed of an operator has a fact and a line with the key's id`() async throws {
        try await withDoors { doors in
            let notes = Notes()
            doors.doors.report = { notes.add($0) }
            let me = try Self.id(of: doors.key)
            let minted = try json(
                try await doors.call("POST", "/v1/keys", #"{"scopes":["produce"]}"#))
            let other = try #require(minted["id"]?.string)
            _ = try await doors.call("POST", "/v1/keys/\(other)/rotate")
            _ = try await doors.call("DELETE", "/v1/keys/\(other)")
            _ = try await doors.call("PUT", "/v1/types/Cat", "{}")
            let pause = try json(try await doors.call("POST", "/v1/pauses", #"{"all":true}"#))
            #expect(pause["by"]?.string == me)
            _ = try await doors.call("DELETE", "/v1/pauses/pause_1")
            _ = try await doors.call("DELETE", "/v1/pauses/pause_1")
            _ = try await doors.call("PUT", "/v1/activities/cat", startCat)
            _ = try await doors.call("POST", "/v1/activities/cat/end", "{}")
            _ = try await doors.call("POST", "/v1/activities/cat/erase")
            let kinds = [
                "key.minted", "key.rotated", "key.removed", "type.put", "pause.began",
                "pause.ended", "erased",
            ]
            #expect(notes.deeds == kinds.map { "\($0) by \(me)" })
            let facts = try json(try await doors.call("GET", "/v1/log?kind=fact"))
            let stored = facts["events"]?.elements.filter { $0["body"]?["by"] != nil } ?? []
            #expect(stored.compactMap { $0["fact"]?.string } == kinds)
            #expect(stored.allSatisfy { $0["body"]?["by"]?.string == me })
        }
    }

    @Test func `each event keeps the key that asked for it`() async throws {
        try await withDoors { doors in
            let other = try await doors.mint("produce")
            _ = try await doors.call("PUT", "/v1/activities/cat", startCat)
            _ = try await doors.call(
                "PATCH", "/v1/activities/cat", #"{"state":{"n":2}}"#, key: other)
            for path in ["/v1/events", "/v1/events?atomic=true"] {
                _ = try await doors.call(
                    "POST", path, #"{"activity":"cat","do":"update","state":{"p":"\#(path)"}}"#,
                    key: other)
            }
            _ = try await doors.call(
                "POST", "/v1/activities/end", #"{"where":{"type":"RunnerWidgetAttributes"}}"#)
            let log = try json(try await doors.call("GET", "/v1/log"))
            let (me, it) = (try Self.id(of: doors.key), try Self.id(of: other))
            #expect(
                log["events"]?.elements.map { $0["by"]?.string } == [me, it, it, it, me])
            let last = try json(try await doors.call("GET", "/v1/log/5"))
            #expect(last["by"]?.string == me)
        }
    }

    @Test func `a key that expired or was deleted is named to the operator`() async throws {
        let clock = HandClock()
        try await withDoors(clock: clock) { doors in
            let notes = Notes()
            doors.doors.report = { notes.add($0) }
            var keys: [(id: String, key: String)] = []
            for body in [#"{"scopes":["observe"],"expires_in":"1m"}"#, #"{"scopes":["observe"]}"#] {
                let minted = try json(try await doors.call("POST", "/v1/keys", body))
                keys.append(
                    (try #require(minted["id"]?.string), try #require(minted["key"]?.string)))
            }
            _ = try await doors.call("DELETE", "/v1/keys/\(keys[1].id)")
            clock.turn(.minutes(2))
            for (_, key) in keys {
                #expect(try await doors.call("GET", "/v1/log", key: key).status == 401)
            }
            // Another secret under the same id is a stranger's.
            let wrong = APIKey(environment: "test") { Array(repeating: 7, count: $0) }
            #expect(try await doors.call("GET", "/v1/log", key: wrong.text).status == 401)
            #expect(notes.refused() == [keys[0].id, keys[1].id, ""])
        }
    }

    @Test func `an operator of the relay deletes the leaked key of another tenant`() async throws {
        try await withDoors { doors in
            let tenant = TenantID(Identifier("acme")!)
            let leaked = try await doors.mint("produce", tenant: tenant)
            let (theirs, observer) = (
                try await doors.mint("operate", tenant: tenant), try await doors.mint("observe")
            )
            let id = try Self.id(of: leaked)
            let list = try await doors.call("GET", "/v1/keys?tenant=acme")
            #expect(list.text.contains(id))
            #expect(try await doors.call("GET", "/v1/keys", key: theirs).text.contains(id))
            for key in [theirs, observer] {
                let path = "/v1/keys?tenant=\(key == theirs ? "main" : "acme")"
                #expect(try await doors.call("GET", path, key: key).status == 403)
            }
            #expect(try await doors.call("DELETE", "/v1/keys/\(id)").status == 404)
            #expect(try await doors.call("DELETE", "/v1/keys/\(id)?tenant=acme").status == 200)
            #expect(
                try await doors.call("PUT", "/v1/activities/x", startCat, key: leaked).status
                    == 401)
            let facts = try await doors.call("GET", "/v1/log?kind=fact", key: theirs)
            #expect(facts.text.contains(#""fact":"key.removed""#), "their log says it")
            let asking = try Self.id(of: doors.key)
            #expect(!facts.text.contains(asking), "and names no key of another tenant")
            // What is known is on record when the history is asked.
            _ = try await doors.call("GET", "/v1/deliveries")
            let own = try await doors.call("GET", "/v1/log?kind=fact").text
            #expect(
                own.contains(asking) && own.contains(#""of":"acme""#), "the operator's own does")
        }
    }
}

extension OperatorNote {
    fileprivate subscript(name: String) -> String {
        fields.first { $0.name == name }?.value ?? ""
    }
}
