import Testing
import TomboloAPI
import TomboloCore
import TomboloJSON
import TomboloRelay

@testable import TomboloServer

@Suite struct HistoryDoorTests {
    private func totals(_ count: Int64) -> HistoryMemory.Totals {
        var totals = HistoryMemory.Totals()
        (totals.accepted, totals.sent, totals.waiting) = (count * 3, count * 2, 5)
        totals.cpuSeconds = Double(count) * 2
        return totals
    }

    private func name(_ number: Int) -> TenantID { TenantID(Identifier("t\(number)")!) }

    @Test func `a point has what changed in ten seconds, and the newest hour is kept`() {
        var memory = HistoryMemory()
        for turn in 0...Int64(HistoryMemory.pointsMax + 5) {
            memory.add(totals(turn), of: [:], at: Instant(seconds: turn * 10))
        }
        let points = memory.points(of: nil, since: Instant(seconds: 0))
        #expect(points.count == HistoryMemory.pointsMax)
        #expect(points.first?.seconds == 60)
        #expect(points.last?.seconds == UInt32(HistoryMemory.pointsMax + 5) * 10)
        #expect(points.allSatisfy { $0.accepted == 3 && $0.sent == 2 && $0.waiting == 5 })
        #expect(points.allSatisfy { $0.cpu == 0.2 && $0.median < 0 })
        #expect(memory.points(of: nil, since: Instant(seconds: 3_600)).count == 5)
    }

    @Test func `it keeps to 400 kB, and drops the tenant that was idle for the longest time`() {
        let point = MemoryLayout<HistoryAnswer.Point>.stride
        let tracks = HistoryMemory.tracksMax + 1
        #expect(point * HistoryMemory.pointsMax * tracks <= HistoryMemory.bytesMax)
        var memory = HistoryMemory()
        for turn in 1...Int64(HistoryMemory.tracksMax + 1) {
            // Of these, the second is idle first.
            let busy = (0..<Int(turn)).filter { $0 != 1 || turn == 2 }
            let each = busy.map { (name($0), totals(turn)) }
            memory.add(
                totals(turn), of: Dictionary(uniqueKeysWithValues: each),
                at: Instant(seconds: turn * 10))
        }
        let kept = (0...HistoryMemory.tracksMax).filter {
            !memory.points(of: name($0), since: Instant(seconds: 0)).isEmpty
        }
        #expect(kept == [0] + Array(2..<HistoryMemory.tracksMax))
    }

    @Test func `a quantile lies between the bounds of its bucket`() {
        var histogram = DurationHistogram()
        for _ in 0..<10 { histogram.count(.milliseconds(200)) }
        let earlier = histogram
        #expect(histogram.quantile(0.5, since: earlier) == nil)
        for _ in 0..<98 { histogram.count(.milliseconds(7)) }
        for _ in 0..<2 { histogram.count(.seconds(7_200)) }
        #expect(histogram.quantile(0.49, since: earlier) == Span(nanoseconds: 7_500_000))
        #expect(histogram.quantile(0.98, since: earlier) == .milliseconds(10))
        #expect(histogram.quantile(0.99, since: earlier) == .seconds(3_600))
    }

    @Test func `the overview tells of the last minutes, and of what changed`() async throws {
        try await withPhone { doors in
            await doors.doors.addToHistory()
            try await doors.putToken("activity:cat", "cc33")
            try await doors.startAdopted(wait: 1)
            _ = try await doors.call("POST", "/v1/pauses", #"{"activity":"cat"}"#)
            await doors.doors.addToHistory()
            let answer = try json(try await doors.call("GET", "/v1/overview?history=1h"))
            let history = try #require(answer["history"])
            #expect(history["step"]?.string == "10s")
            #expect(history["accepted"]?.elements.compactMap(\.integer) == [1])
            #expect(history["sent"]?.elements.compactMap(\.integer) == [1])
            #expect(history["p99_ms"]?.elements.allSatisfy { $0.double != nil } == true)
            #expect(history["cpu"]?.count == 1)
            let moments = history["moments"]?.elements.map { $0 } ?? []
            #expect(moments.last?["kind"]?.string == "pause.began")
            #expect(moments.last?["about"]?.string == "cat")
            let short = try json(try await doors.call("GET", "/v1/overview"))
            #expect(short["history"] == nil)
        }
    }

    @Test(arguments: ["", "0s", "61m", "2d", "now", "-1s", "1e3s"])
    func `a length that is no duration of at most an hour is refused`(_ text: String) async throws {
        try await withDoors { doors in
            let answer = try await doors.call("GET", "/v1/overview?history=\(text)")
            #expect(answer.status == 400, "\(answer.text)")
            #expect(answer.text.contains("1h"))
        }
    }

    @Test func `a tenant sees its own figures and moments`() async throws {
        let other = TenantID(Identifier("other")!)
        let apps =
            DoorsUnderTest.apps + [
                .init(tenant: other, id: "org.other.app", environment: .sandbox, allowsLab: true)
            ]
        try await withDoors(apps: apps) { doors in
            await doors.doors.addToHistory()
            _ = try await doors.call(
                "PUT", "/v1/activities/alone", #"{"type":"Dog","state":{"n":1}}"#)
            _ = try await doors.call("POST", "/v1/pauses", #"{"all":true}"#)
            await doors.doors.addToHistory()
            await doors.doors.addToHistory()
            let key = try await doors.mint("produce,observe", tenant: other)
            func history() async throws -> JSONView {
                let path = "/v1/overview?history=1h"
                let answer = try json(try await doors.call("GET", path, key: key))
                return try #require(answer["history"])
            }
            let before = try await history()
            #expect(before["accepted"]?.count == 0)
            #expect(before["moments"]?.count == 0)
            #expect(before["cpu"] == nil)
            let start = #"{"type":"Dog","state":{"n":1}}"#
            _ = try await doors.call("PUT", "/v1/activities/mine", start, key: key)
            await doors.doors.addToHistory()
            _ = try await doors.call("PUT", "/v1/activities/more", start, key: key)
            await doors.doors.addToHistory()
            #expect(try await history()["accepted"]?.elements.compactMap(\.integer) == [1])
        }
    }
}
