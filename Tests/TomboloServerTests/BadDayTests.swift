import Synchronization
import TestSupport
import Testing
import TomboloAPI
import TomboloCore
import TomboloHTTP
import TomboloJSON
import TomboloLoop
import TomboloRelay

@testable import TomboloServer

/// A wall clock of the machine that is turned by hand.
private struct TurningClock: WallClock {
    let hand: HandClock
    func now() -> Instant { hand.now }
}

/// A day on which something is wrong, and what the first screen then says.
struct BadDay: Sendable, CustomTestStringConvertible {
    /// What a day may break, besides what requests do.
    struct World: Sendable {
        let doors: DoorsUnderTest
        let log: TroubledLog
        let hand: HandClock

        func put(_ path: String, _ body: String) async throws {
            _ = try await doors.call("PUT", path, body)
        }

        func post(_ path: String, _ body: String) async throws {
            _ = try await doors.call("POST", path, body)
        }

        /// A phone with a card of `cat`, or one that is about to get it.
        func card() async throws {
            try await doors.registerPhone()
            try await doors.putToken("activity:cat", "cc33")
            try await doors.startAdopted(wait: 1)
        }

        /// More starts than a phone takes in an hour; the last one waits.
        func manyStarts() async throws {
            try await put(
                "/v1/devices/phone-1",
                #"{"app":"com.example.app","environment":"sandbox","budget_class":"lab"}"#)
            try await doors.putToken("start:Dog", "dd44")
            for number in 1...13 {
                try await put(
                    "/v1/activities/dog-\(number)",
                    #"{"type":"Dog","audience":{"device":"phone-1"},"state":{"n":1}}"#)
            }
        }
    }

    var code: AttentionCode
    /// True if the relay knows when it began.
    var hasSince = false
    var look: String
    /// The command to begin with, or its first words.
    var command: String
    var make: @Sendable (World) async throws -> Void

    var testDescription: String { code.rawValue }

    static let all = ofRelay + ofCards

    private static let ofRelay = [
        BadDay(code: .notReady, look: "/readyz", command: "tombolo doctor") {
            $0.log.isFull.store(true, ordering: .relaxed)
        },
        BadDay(
            code: .upstreamClosed, hasSince: true, look: "#/deliveries",
            command: "tombolo upstream retry com.example.app"
        ) {
            $0.doors.sender.verdict = .rejected(
                status: 403, reason: "InvalidProviderToken", reaches: .providerToken,
                tokenGoneSince: nil)
            try await $0.card()
        },
        BadDay(code: .clockBehind, look: "/readyz", command: "timedatectl status") {
            $0.hand.turn(.seconds(-600))
        },
        BadDay(code: .certificateEnds, look: "/readyz", command: "tombolo config check") {
            $0.doors.doors.certificateEnd = FixedClock().now().seconds + 86_400
        },
        BadDay(code: .logDamaged, look: "#/log", command: "tombolo log verify --data DIR") {
            $0.log.find("row 7 of events has a wrong checksum")
        },
        BadDay(code: .noStandby, look: "/readyz", command: "tombolo doctor") {
            var machine = MachineView()
            machine.database = .init(
                durability: "local", commitMedian: 0.1, commitP99: 0.2, bytes: 1, deadRows: 1,
                oldestSnapshot: 1, standbys: 0)
            $0.doors.doors.machine = { [machine] in machine }
        },
        // Each relay of these tests has a record of a key that it cannot read.
        BadDay(
            code: .keysUnreadable, look: "/problems/keys_unreadable", command: "tombolo key ls"
        ) { _ in },
        BadDay(code: .registrationsRefused, look: "#/devices", command: "tombolo key ls") {
            _ = try await $0.doors.call("PUT", "/v1/devices/a", "{}", key: "tmb_live_wrong")
        },
        BadDay(
            code: .paused, hasSince: true, look: "#/pacing", command: "tombolo resume pause_1"
        ) {
            try await $0.post("/v1/pauses", #"{"all":true}"#)
        },
    ]

    private static let ofCards = [
        BadDay(
            code: .refused, hasSince: true, look: "#/deliveries", command: "tombolo dead ls"
        ) {
            $0.doors.sender.refusal = "BadTopic"
            try await $0.card()
        },
        BadDay(
            code: .startUnknown, look: "#/activities/fox/why?device=phone-1",
            command: "tombolo activity show fox"
        ) {
            try await $0.doors.registerPhone()
            $0.doors.sender.verdict = .unknown(reason: "no answer in 10 s")
            try await $0.put(
                "/v1/activities/fox",
                #"{"type":"RunnerWidgetAttributes","audience":{"device":"phone-1"},"state":{}}"#)
        },
        BadDay(
            code: .tokenRefused, look: "#/devices/phone-1", command: "tombolo device show phone-1"
        ) {
            $0.doors.sender.verdict = .rejected(
                status: 400, reason: "BadDeviceToken", reaches: .tokenMisplaced,
                tokenGoneSince: nil)
            try await $0.doors.registerPhone()
            try await $0.doors.putToken("start:Dog", "dd44")
            try await $0.put(
                "/v1/activities/dog",
                #"{"type":"Dog","audience":{"device":"phone-1"},"state":{"n":1}}"#)
        },
        BadDay(
            code: .noToken, look: "#/devices/phone-1", command: "tombolo device show phone-1"
        ) {
            try await $0.doors.registerPhone()
            try await $0.put(
                "/v1/activities/cat",
                #"{"type":"Cat","audience":{"device":"phone-1"},"state":{"n":1}}"#)
        },
        BadDay(
            code: .budgetSpent, look: "#/pacing", command: "tombolo budget show --activity dog-"
        ) { try await $0.manyStarts() },
        BadDay(
            code: .neverBegan, look: "#/activities/dog-13/why?device=phone-1",
            command: "tombolo why dog-13 phone-1"
        ) {
            try await $0.manyStarts()
            try await $0.post("/v1/activities/dog-13/end", "{}")
        },
        BadDay(
            code: .dismissed, look: "#/activities/cat/why?device=phone-1",
            command: "tombolo activity show cat"
        ) {
            try await $0.card()
            try await $0.put(
                "/v1/devices/phone-1/activities/cat", #"{"phase":"dismissed","by":"user"}"#)
        },
        BadDay(
            code: .unreached, look: "#/activities?status=waiting",
            command: "tombolo activity ls --status waiting"
        ) { try await $0.put("/v1/activities/alone", #"{"type":"Dog","state":{"n":1}}"#) },
        BadDay(
            code: .producerSilent, hasSince: true, look: "#/activities/alone",
            command: "tombolo activity show alone"
        ) {
            try await $0.put(
                "/v1/activities/alone", #"{"type":"Dog","state":{"n":1},"stale_after":"1s"}"#)
        },
    ]
}

/// Each bad day is a row of the first screen.
@Suite struct BadDayTests {
    /// The row of the code; it may come a moment later.
    private static func row(_ code: AttentionCode, _ doors: DoorsUnderTest) async throws -> JSONView
    {
        for _ in 1...200 {
            let answer = try json(try await doors.call("GET", "/v1/overview"))
            let row = answer["attention"]?.elements.first { $0["code"]?.string == code.rawValue }
            if let row { return row }
            try await doors.loop.sleep(for: .milliseconds(50))
        }
        let answer = try await doors.call("GET", "/v1/overview")
        return try #require(nil as JSONView?, "\(answer.text)")
    }

    @Test(arguments: BadDay.all)
    func `a bad day is a row with its moment, its link and its command`(day: BadDay) async throws {
        let (log, hand) = (TroubledLog(), HandClock())
        let keys: [(number: Int64, value: [UInt8])] = [(number: 4, value: Array("{}".utf8))]
        try await withDoors(log: log, wallClock: TurningClock(hand: hand), keys: keys) { doors in
            try await day.make(.init(doors: doors, log: log, hand: hand))
            let row = try await Self.row(day.code, doors)
            #expect(row["title"]?.string == AttentionRow.row(day.code).title)
            #expect(row["severe"]?.bool == AttentionRow.row(day.code).isSevere)
            #expect(row["look"]?.string == day.look)
            let command = row["command"]?.string
            #expect(command?.hasPrefix(day.command) == true, "\(command ?? "none")")
            #expect(row["try"]?.elements.contains { $0.string == command } == true)
            let since = row["since"]?.string.flatMap { Instant(rfc3339: $0) }
            #expect((since != nil) == day.hasSince)
            if let since {
                let age = FixedClock().now() - since
                #expect(age < .minutes(1) && age > .minutes(-1), "\(since.rfc3339)")
            }
            log.isFull.store(false, ordering: .relaxed)
        }
    }

    @Test func `at least fifteen days are bad, each in another way`() {
        #expect(BadDay.all.count >= 15)
        #expect(Set(BadDay.all.map(\.code)).count == BadDay.all.count)
    }

    @Test func `a relay that waits for its log says so in the words of the table`() async throws {
        try await onLoop { loop in
            let server = try HTTPServer(
                loop: loop, listen: ListenAddress(host: "127.0.0.1", port: 0),
                handler: StandbyDoors(version: "0"))
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask(executorPreference: loop) { try await server.run() }
                let curl = try Curl(
                    [
                        "http://127.0.0.1:\(server.address.port)/readyz", "-H",
                        "Accept: application/json",
                    ], on: loop)
                _ = await curl.wait()
                let answer = try json(try #require(CurlAnswer(output: curl.collected)))
                let row = try #require(answer["entries"]?.elements.first { _ in true })
                #expect(row["code"]?.string == "waiting")
                #expect(row["title"]?.string == AttentionRow.row(.waiting).title)
                #expect(row["severe"]?.bool == false)
                await server.drain(within: .seconds(5))
                try await group.waitForAll()
            }
        }
    }

    @Test func `each alert and each code has a page, and the list has it`() async throws {
        try await withDoors { doors in
            let list = try await doors.call("GET", "/problems").text
            let codes = AttentionCode.allCases.filter { $0 != .waiting }.map(\.rawValue)
            for name in codes + Runbook.alerts {
                let page = try await doors.call("GET", Runbook.path(alert: name))
                #expect(page.status == 200 && page.text.contains("What to do"), "\(name)")
            }
            for name in codes { #expect(list.contains("/problems/\(name)  attention  ")) }
        }
    }
}
