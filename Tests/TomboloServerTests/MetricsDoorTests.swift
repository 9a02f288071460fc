import TestSupport
import Testing
import TomboloCore
import TomboloRelay

@testable import TomboloServer

/// `/metrics`: what is there, for whom, and that it is the truth.
@Suite struct MetricsDoorTests {
    private static let machine = {
        var machine = MachineView()
        machine.upstreams = [
            .init(app: "a", environment: "sandbox", endpoint: "https://127.0.0.1:1", caFile: "")
        ]
        machine.diskFreeBytes = 1
        machine.database = MachineView.Database(
            durability: "local", commitMedian: 0.1, commitP99: 0.2, bytes: 1, deadRows: 1,
            oldestSnapshot: 1, standbys: 1)
        return machine
    }()

    /// A family's name, of a line of samples.
    private func family(_ line: String) -> String? {
        guard !line.hasPrefix("#"), !line.isEmpty else { return nil }
        let name = String(line.prefix { $0 != "{" && $0 != " " })
        for suffix in ["_bucket", "_sum", "_count"] where name.hasSuffix("_seconds" + suffix) {
            return String(name.dropLast(suffix.count))
        }
        return name
    }

    private func families(_ doors: DoorsUnderTest, _ key: String? = nil) async throws
        -> Set<String>
    {
        let text = try await doors.call("GET", "/metrics", key: key).text
        return Set(text.split(separator: "\n").compactMap { family(String($0)) })
    }

    private func names(_ audiences: Set<MetricFamily.Audience>) -> Set<String> {
        Set(MetricFamily.all.filter { audiences.contains($0.audience) }.map(\.name))
    }

    @Test func `every family is there before anything has happened, for those who may see it`()
        async throws
    {
        let other = TenantID(try #require(Identifier("other")))
        var apps = DoorsUnderTest.apps
        apps.append(
            .init(tenant: other, id: "com.other", environment: .production, allowsLab: false))
        try await withDoors(apps: apps) { [apps] doors in
            #expect(apps.count == 2)
            doors.doors.certificateEnd = 1
            doors.doors.machine = { Self.machine }
            #expect(try await families(doors) == names([.tenant, .alone, .operators]))
            let observer = try await doors.mint("observe")
            #expect(try await families(doors, observer) == names([.tenant]))
            let stranger = try await doors.mint("operate,observe", tenant: other)
            #expect(try await families(doors, stranger) == names([.tenant]))
            // Who runs the relay is woken up for each tenant's app.
            let foreign = #"tombolo_upstreams{app="com.other",environment="production""#
            let own = #"tombolo_upstreams{app="com.example.app",environment="sandbox""#
            for (key, sees) in [
                (doors.key, [own, foreign]), (observer, [own]), (stranger, [foreign]),
            ] {
                let text = try await doors.call("GET", "/metrics", key: key).text
                #expect([own, foreign].filter(text.contains) == sees)
            }
        }
        try await withDoors { doors in
            doors.doors.certificateEnd = 1
            doors.doors.machine = { Self.machine }
            let alone = try await doors.mint("observe")
            #expect(try await families(doors, alone) == names([.tenant, .alone]))
        }
    }

    @Test func `each sample has the labels of its family, under its type`() async throws {
        try await withDoors { doors in
            doors.doors.machine = { Self.machine }
            _ = try await doors.call("PUT", "/v1/activities/cat-7", startCat)
            let text = try await doors.call("GET", "/metrics").text
            for line in text.split(separator: "\n").map(String.init) {
                guard let name = family(line) else { continue }
                let row = try #require(MetricFamily.all.first { $0.name == name }, "\(line)")
                var labels = row.labels
                if line.hasPrefix("\(name)_bucket{") { labels.append("le") }
                let inside = line.split(separator: "{").dropFirst().first?.split(separator: "}")
                let found = inside?.first?.split(separator: ",").compactMap {
                    $0.split(separator: "=").first.map(String.init)
                }
                #expect((found ?? []) == labels, "\(line)")
                #expect(text.contains("# TYPE \(name) \(row.kind.rawValue)\n"))
            }
        }
    }

    @Test func `what Apple refuses, and how long all takes, is counted by app`() async throws {
        try await withDoors { doors in
            let app = #"{app="com.example.app",environment="sandbox""#
            func lines() async throws -> [String] {
                try await doors.call("GET", "/metrics").lines
            }
            let before = try await lines()
            #expect(before.contains(#"tombolo_upstreams\#(app),state="open"} 1"#))
            #expect(before.contains(#"tombolo_upstreams\#(app),state="closed"} 0"#))
            #expect(before.contains(#"tombolo_refusals_total\#(app),reason="other"} 0"#))
            #expect(before.contains("tombolo_dead_letters 0"))
            #expect(before.contains("tombolo_pauses 0"))
            #expect(before.contains(#"tombolo_build_info{version="0.0.0-test"} 1"#))

            try await doors.registerPhone()
            try await doors.putToken("activity:cat", "cc33")
            _ = try await doors.call(
                "PUT", "/v1/activities/cat",
                #"{"type":"RunnerWidgetAttributes","state":{"n":1},"#
                    + #""audience":{"device":"phone-1","start":"adopt"}}"#,
                fields: ["Prefer: wait=2"])
            doors.sender.refusal = "Made\"Up\\"
            _ = try await doors.call(
                "PATCH", "/v1/activities/cat", #"{"state":{"n":2}}"#, fields: ["Prefer: wait=2"])
            _ = try await doors.call("POST", "/v1/pauses", #"{"all":true}"#)
            let after = try await lines()
            #expect(after.contains(#"tombolo_refusals_total\#(app),reason="other"} 1"#))
            #expect(after.contains("tombolo_dead_letters 1"))
            let pushes = doors.sender.pushes.count
            #expect(pushes > 0)
            #expect(after.contains(#"tombolo_sent_to_answered_seconds_count\#(app)} \#(pushes)"#))
            #expect(after.contains(#"tombolo_event_to_sent_seconds_count\#(app)} \#(pushes)"#))
            let short = #"tombolo_sent_to_answered_seconds_bucket\#(app),le="0.001"} \#(pushes)"#
            #expect(after.contains(short))
            let commits = after.first { $0.hasPrefix("tombolo_commit_seconds_count ") }
            #expect(commits.flatMap { Int($0.split(separator: " ").last ?? "") } ?? 0 > 0)
        }
    }

    @Test func `what waits is counted by what holds it`() async throws {
        try await withDoors { doors in
            func line(_ reason: String) async throws -> String? {
                try await doors.call("GET", "/metrics").lines.first {
                    $0.hasPrefix(#"tombolo_waiting_destinations{reason="\#(reason)"}"#)
                }.map { String($0.suffix(1)) }
            }
            for reason in WaitReason.allCases { #expect(try await line(reason.name) == "0") }
            try await doors.registerPhone()
            _ = try await doors.call("POST", "/v1/pauses", #"{"all":true}"#)
            _ = try await doors.call(
                "PUT", "/v1/activities/cat",
                #"{"type":"RunnerWidgetAttributes","state":{"n":1},"#
                    + #""audience":{"device":"phone-1"}}"#)
            #expect(try await line("paused") == "1")
            #expect(try await line("spacing") == "0")
        }
    }

    @Test func `a histogram counts each time once, up to its bound and beyond all`() {
        var histogram = DurationHistogram()
        histogram.count(.milliseconds(1))
        histogram.count(Span(nanoseconds: 1_000_001))
        histogram.count(Span(nanoseconds: -1))
        histogram.count(.hours(2))
        #expect(histogram.cumulative.first == 2)
        #expect(histogram.cumulative.dropFirst().first == 3)
        #expect(histogram.cumulative.last == 3)
        #expect(histogram.count == 4)
        #expect(histogram.cumulative.count == DurationHistogram.bounds.count)
    }

    @Test func `a label's value cannot break its line`() {
        var text = MetricsText()
        text.write(.problems, [(["a\"b\\c\nd"], 1)])
        #expect(text.text.hasSuffix(#"{code="a\"b\\c\nd"} 1"# + "\n"))
    }

    @Test func `events are counted by key, for the ten that stored most`() {
        var counters = DoorCounters()
        for key in 1...12 {
            for _ in 0..<key { counters.countEvents(1, by: "key_\(key)") }
        }
        let series = counters.eventsByKey
        #expect(series.count == DoorCounters.keysShown + 1)
        #expect(series.first?.0 == ["key_12"] && series.first?.1 == 12)
        #expect(series.last?.0 == ["other"] && series.last?.1 == 1 + 2)
    }

    @Test func `each way of storing an event counts it for its key`() async throws {
        try await withDoors { doors in
            let start = #"{"type":"Dog","state":{"n":1}}"#
            _ = try await doors.call("PUT", "/v1/activities/a", start)
            _ = try await doors.call("PUT", "/v1/activities/a", start)
            let line = #"{"do":"start","type":"Dog","state":{"n":1},"activity":"#
            _ = try await doors.call("POST", "/v1/events", line + "\"b\"}")
            _ = try await doors.call("POST", "/v1/events?atomic=true", line + "\"c\"}")
            let metrics = try await doors.call("GET", "/metrics").text
            let own = metrics.split(separator: "\n").first {
                $0.hasPrefix("tombolo_key_events_total{key=") && !$0.contains("other")
            }
            #expect(own?.hasSuffix(" 3") == true, "the repetition counts for nothing: \(own ?? "")")
        }
    }
}
