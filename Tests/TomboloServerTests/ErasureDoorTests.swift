import TestSupport
import Testing
import TomboloCore
import TomboloEventLog
import TomboloJSON

@testable import TomboloServer

@Suite struct ErasureDoorTests {
    private static func fill(_ doors: DoorsUnderTest) async throws {
        _ = try await doors.call(
            "PUT", "/v1/devices/phone-1", #"{"budget_class":"lab","frequent_updates":true}"#)
        _ = try await doors.call(
            "POST", "/v1/events",
            """
            {"activity":"cat","do":"start","type":"Cat","state":{"name":"Mimi"}}
            {"activity":"cat","do":"update","state":{"name":"Momo"}}
            {"activity":"dog","do":"start","type":"Dog","audience":{"device":"phone-1"},"state":{}}
            {"activity":"emu","do":"start","type":"Emu","audience":{"devices":["phone-1","p2"]},"state":{}}
            """)
    }

    @Test func `an ended activity is erased, and only when it was asked for`() async throws {
        try await withDoors { doors in
            try await Self.fill(doors)
            let early = try await doors.call("POST", "/v1/activities/cat/erase")
            #expect(early.status == 409)
            #expect(early.text.contains("end it first"))
            _ = try await doors.call("POST", "/v1/activities/cat/end", "{}")
            let answer = try await doors.call("POST", "/v1/activities/cat/erase")
            #expect(answer.status == 200)
            let told = try json(answer)
            #expect(told["result"]?.string == "erased")
            #expect(told["events"]?.integer == 3)
            #expect(told["activities"]?.integer == 1)
            #expect(told["out_of_file"]?.bool == true)
            #expect(try await doors.call("GET", "/v1/activities/cat").status == 404)
            #expect(try await doors.call("POST", "/v1/activities/cat/erase").status == 404)
            let log = try await doors.call("GET", "/v1/log")
            #expect(!log.text.contains("Momo"))
            let first = try #require(try json(log)["events"]?.elements.first { _ in true })
            #expect(first["erased"]?.bool == true)
            #expect(first["activity"]?.isNull == true)
            #expect(first["do"]?.string == "start")
            #expect(first["body"] == nil)
            let again = try await doors.call(
                "PUT", "/v1/activities/cat", #"{"type":"Cat","state":{"name":"Mia"}}"#)
            #expect(again.status == 201)
            #expect(try json(again)["version"]?.integer == 1, "it is another cat")
        }
    }

    @Test func `a trial counts what an erasure then takes`() async throws {
        try await withDoors { doors in
            try await Self.fill(doors)
            _ = try await doors.call("POST", "/v1/activities/cat/end", "{}")
            for path in ["/v1/activities/cat/erase", "/v1/devices/phone-1/erase"] {
                let trial = try json(try await doors.call("POST", path + "?dry_run=true"))
                #expect(trial["dry_run"]?.bool == true)
                #expect(trial["out_of_file"] == nil)
                let real = try json(try await doors.call("POST", path))
                for name in ["events", "facts", "activities"] {
                    #expect(trial[name]?.integer == real[name]?.integer, "\(name)")
                }
                #expect(real["events"]?.integer ?? 0 > 0)
            }
            let nobody = try await doors.call("POST", "/v1/devices/nobody/erase?dry_run=true")
            #expect(nobody.status == 404)
        }
    }

    @Test func `a device is erased with what was for it alone`() async throws {
        try await withDoors { doors in
            try await Self.fill(doors)
            let answer = try await doors.call("POST", "/v1/devices/phone-1/erase")
            #expect(answer.status == 200)
            #expect(try json(answer)["activities"]?.integer == 1)
            #expect(try await doors.call("GET", "/v1/devices/phone-1").status == 404)
            #expect(try await doors.call("GET", "/v1/activities/dog").status == 404)
            #expect(try await doors.call("GET", "/v1/activities/cat").status == 200)
            let emu = try await doors.call("GET", "/v1/activities/emu")
            #expect(emu.status == 200, "it is for another phone too")
            let log = try await doors.call("GET", "/v1/log")
            #expect(!log.text.contains("phone-1"))
            let again = try await doors.call("POST", "/v1/devices/phone-1/erase")
            #expect(again.status == 404, "nothing is left of it")
            let nobody = try await doors.call("POST", "/v1/devices/nobody/erase")
            #expect(nobody.status == 404)
            #expect(nobody.text.contains("Nothing of a device"))
        }
    }

    @Test func `a state from before an erasure is told to be gone`() async throws {
        try await withDoors { doors in
            try await Self.fill(doors)
            _ = try await doors.call("POST", "/v1/devices/phone-1/erase")
            let past = try await doors.call("GET", "/v1/activities/emu?at_seq=4")
            #expect(past.status == 404)
            #expect(past.text.contains("was erased"))
        }
    }

    @Test func `the log is asked by time and kind`() async throws {
        let log = InMemoryEventLog()
        var batch = AppendBatch()
        for index in Int64(0)..<6 {
            batch.events.append(
                NewEvent(
                    tenant: DoorsUnderTest.tenant, activity: ActivityNumber(1),
                    expectedVersion: index, kind: index == 0 ? .start : .update,
                    recordedAt: Instant(seconds: 1_000 + index), body: Array("{}".utf8)))
        }
        batch.heads = [ActivityHead(activity: ActivityNumber(1), value: [])]
        _ = try await log.append(batch)
        try await withDoors(log: log) { doors in
            let (from, until) = ("1970-01-01T00:16:42Z", "1970-01-01T00:16:44Z")
            #expect(try await Self.seqs("do=start", doors) == [1])
            #expect(try await Self.seqs("do=end", doors) == [])
            #expect(try await Self.seqs("from=\(from)&until=\(until)", doors) == [3, 4])
            #expect(try await Self.seqs("from=\(from)&do=update", doors) == [3, 4, 5, 6])
            for wrong in ["do=nothing", "do=end&kind=fact", "from=yesterday"] {
                let answer = try await doors.call("GET", "/v1/log?\(wrong)")
                #expect(answer.status == 400, "\(wrong)")
            }
        }
    }

    private static func seqs(_ query: String, _ doors: DoorsUnderTest) async throws -> [Int64?] {
        let answer = try await doors.call("GET", "/v1/log?\(query)")
        return try json(answer)["events"]?.elements.map { $0["seq"]?.integer } ?? []
    }
}
