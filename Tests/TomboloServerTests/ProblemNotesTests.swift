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

@Suite struct ProblemNotesTests {
    private let now = MonotonicInstant(nanoseconds: 1_000)
    private let request = ProblemNotes.Request(
        method: "PUT", operation: .startActivity, traceID: "4bf9", tenant: "main", keyID: "k1")

    @Test func `a flood of refusals is bounded and counted, and leaves room for failures`() {
        var notes = ProblemNotes()
        let refusal = Problem(.invalidField, "secret-value")
        let taken = (0..<500).reduce(0) { sum, _ in
            sum + notes.notes(of: refusal, request, now: now).count
        }
        #expect(taken == ProblemNotes.burst)
        let failure = notes.notes(of: Problem(.internalError, "It broke."), request, now: now)
        #expect(failure.count == 2, "the count of those left out, and itself")
        #expect(failure.first?.event == .notesLeftOut)
        #expect(failure.first?.text.hasPrefix("400 ") == true)
        #expect(failure.last?.level == .error)
        #expect(failure.last?.text.hasSuffix("500 internal-error: It broke.") == true)
        let later = notes.notes(of: refusal, request, now: now + .seconds(1))
        #expect(later.count == 1)
        #expect(later.first?.text == "startActivity is refused: 422 invalid-field")
    }

    @Test func `a full disk has one line with a trace id, and a count each minute`() {
        var notes = ProblemNotes()
        let full = Problem(.logFull, "the disk of the log is nearly full")
        let lines = (0..<50).flatMap { _ in notes.notes(of: full, request, now: now) }
        #expect(lines.count == 1)
        #expect(lines.first?.fields.contains { $0.name == "trace_id" } == true)
        #expect(notes.gathered(isFull: true).map(\.text).first?.hasPrefix("49 requests") == true)
        #expect(notes.gathered(isFull: true).isEmpty, "none came")
        #expect(notes.notes(of: full, request, now: now).isEmpty, "it is full still")
        #expect(notes.gathered(isFull: false).count == 1)
        #expect(notes.notes(of: full, request, now: now).count == 1, "it is full again")
    }

    @Test func `a flood names the key that sends most, once a minute`() throws {
        var notes = ProblemNotes()
        let slow = Problem(.overloaded, "The key has 1024 requests open.")
        func send(_ count: Int, _ key: String, _ tenant: String) {
            var other = request
            (other.keyID, other.tenant) = (key, tenant)
            for _ in 0..<count { _ = notes.notes(of: slow, other, now: now) }
        }
        send(70, "aa", "main")
        send(90, "bb", "acme")
        send(ProblemNotes.floodMin - 1, "cc", "main")
        let line = try #require(notes.gathered(isFull: false).first)
        #expect(line.event == .flood)
        for (name, value) in [("tenant", "acme"), ("key", "bb"), ("refused", "90")] {
            #expect(line.fields.contains { $0.name == name && $0.value == value }, "\(name)")
        }
        #expect(notes.gathered(isFull: false).isEmpty)
        send(ProblemNotes.floodMin - 1, "cc", "main")
        #expect(notes.gathered(isFull: false).isEmpty, "a few are no flood")
    }

    @Test func `a refusal names its fields and has none of their values`() throws {
        var notes = ProblemNotes()
        let refusal = Problem(
            .invalidField, "token aabb is wrong",
            errors: [FieldError(pointer: "/token", message: "aabb is no token")])
        let note = try #require(notes.notes(of: refusal, request, now: now).first)
        #expect(!"\(note)".contains("aabb"))
        #expect(note.fields.contains { $0.name == "fields" && $0.value == "/token" })
        #expect(note.fields.contains { $0.name == "trace_id" && $0.value == "4bf9" })
    }

    @Test func `one tenant's refusals take no line from others, or from those without a key`() {
        var notes = ProblemNotes()
        let refusal = Problem(.invalidField, "")
        var other = request
        other.tenant = "other"
        var stranger = request
        stranger.tenant = nil
        for _ in 0..<ProblemNotes.burst { _ = notes.notes(of: refusal, request, now: now) }
        #expect(notes.notes(of: refusal, request, now: now).isEmpty)
        for request in [other, stranger] {
            for _ in 0..<ProblemNotes.burst {
                #expect(notes.notes(of: refusal, request, now: now).count == 1)
            }
            #expect(notes.notes(of: refusal, request, now: now).isEmpty)
        }
        let told = notes.notes(of: refusal, request, now: now + .seconds(1))
        #expect(told.first?.text.hasPrefix("1 requests more") == true)
        #expect(told.first?.fields.map(\.value) == ["main"])
    }

    @Test func `a member's name that a client has made up is cut short`() throws {
        var notes = ProblemNotes()
        let name = "/e" + String(repeating: "\u{301}", count: 60_000)
        let refusal = Problem(
            .invalidField, "", errors: [FieldError(pointer: name, message: "is not known")])
        let note = try #require(notes.notes(of: refusal, request, now: now).first)
        let fields = try #require(note.fields.first { $0.name == "fields" }?.value)
        #expect(fields.unicodeScalars.count == 129 && fields.hasSuffix("…"))
    }

    @Test func `a line of a batch that is refused is noted with the trace id in its answer`()
        async throws
    {
        let notes = Mutex<[OperatorNote]>([])
        try await withDoors { doors in
            doors.doors.report = { note in notes.withLock { $0.append(note) } }
            let lines =
                #"{"activity":"a","do":"start","type":"T","state":{}}"# + "\n"
                + #"{"activity":"none","do":"update","state":{}}"# + "\nnonsense\n"
            let answer = try await doors.call("POST", "/v1/events", lines)
            let results = try answer.text.split(separator: "\n").filter { $0.hasPrefix("{") }
                .map { try JSONDocument(Array($0.utf8)).root }
            let traces = results.compactMap { $0["problem"]?["trace_id"]?.string }
            #expect(results.count == 3)
            #expect(traces.count == 2 && Set(traces).count == 1)
            let noted = notes.withLock { $0 }
            #expect(
                noted.map(\.text) == [
                    "appendEvents is refused: 404 unknown-activity",
                    "appendEvents is refused: 400 invalid-json",
                ])
            let fields = noted.compactMap { note in
                note.fields.first { $0.name == "trace_id" }?.value
            }
            #expect(fields == traces)
        }
    }

    @Test func `each problem that the doors answer is noted with its trace id`() async throws {
        let notes = Mutex<[OperatorNote]>([])
        try await withDoors { doors in
            doors.doors.report = { note in notes.withLock { $0.append(note) } }
            let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
            _ = try await doors.call(
                "GET", "/v1/activities/nobody", fields: ["traceparent: \(trace)"])
            _ = try await doors.call("GET", "/v1/nothing")
            _ = try await doors.call("GET", "/v1/activities", key: "wrong")
            _ = try await doors.call("GET", "/v1/activities")
        }
        let all = notes.withLock { $0 }
        #expect(
            all.map(\.text) == [
                "showActivity is refused: 404 unknown-activity",
                "GET of an unknown path is refused: 404 unknown-route",
                "listActivities is refused: 401 unauthorized",
            ])
        func values(_ name: String) -> [String?] {
            all.map { note in note.fields.first { $0.name == name }?.value }
        }
        #expect(values("trace_id").first == "4bf92f3577b34da6a3ce929d0e0e4736")
        #expect(values("trace_id").allSatisfy { $0?.utf8.count == 32 })
        #expect(values("tenant") == ["main", nil, nil])
        #expect(values("from") == [nil, "127.0.0.1", "127.0.0.1"])
    }

    @Test func `a client that breaks off in the middle of a body is no failure of the relay`()
        async throws
    {
        let notes = Mutex<[OperatorNote]>([])
        try await withDoors { doors in
            doors.doors.report = { note in notes.withLock { $0.append(note) } }
            let curl = try doors.curl(
                "PUT", "/v1/activities/cat-7", #"{"type""#, fields: ["Content-Length: 60000"])
            while doors.doors.uses.isEmpty { await Task.yield() }
            curl.end()
            while !doors.doors.uses.isEmpty { await Task.yield() }
            let metrics = try await doors.call("GET", "/metrics")
            let counts = metrics.lines.filter {
                $0.contains("http_requests_total") && $0.contains(#"operation="startActivity""#)
                    && !$0.hasSuffix(" 0")
            }
            #expect(counts.count == 1)
            #expect(counts.first?.contains(#"status="499""#) == true, "\(counts)")
        }
        let all = notes.withLock { $0 }
        #expect(all.map(\.text) == ["startActivity is refused: 499 client-closed-request"])
        #expect(all.map(\.level) == [.info])
    }

    @Test(arguments: [(ProblemNotes.busyMin - 1, 0), (ProblemNotes.busyMin, 1)])
    func `a key that stores much has a line a minute, one that stores less has none`(
        count: Int, lines: Int
    ) {
        var notes = ProblemNotes()
        for _ in 0..<count { notes.stored(1, by: .init(key: "key_1", tenant: "shop")) }
        notes.stored(1, by: .init(key: "key_2", tenant: "shop"))
        let told = notes.gathered(isFull: false)
        #expect(told.map(\.event) == Array(repeating: .busyKey, count: lines))
        #expect(told.allSatisfy { $0.text.contains("\(count) events") })
        #expect(notes.gathered(isFull: false).isEmpty, "counts begin again")
    }
}
