import Glibc
import TomboloCrypto
import TomboloJSON
import TomboloLoop
import TomboloProgram

/// `bench relay`: measures what an event costs a relay in another process, from the event's request
/// to the outcome of its push.
enum BenchRelayCommand {
    /// Number of concurrent requests, so that the relay is never idle.
    private static let requests = 16
    /// How long to wait for the last pushes after the last answer.
    private static let settleTime = Duration.seconds(30)

    static func run(_ context: CommandContext) async throws -> ExitStatus {
        let invocation = context.invocation
        let count = invocation.integer(.benchEvents) ?? 100_000
        let load = RelayLoad(
            activities: invocation.integer(.benchActivities) ?? 1_000,
            lines: invocation.integer(.relayLines) ?? 200,
            budgetClass: invocation.text(.relayClass) ?? "lab",
            rate: invocation.integer(.relayRate), counts: invocation.text(.relayAllocations))
        guard let process = invocation.integer(.relayProcess) else {
            throw ProgramError.usage(
                "there is no --pid of the relay", remedy: "tombolo-bench help relay")
        }
        let client = try await RelayClient.connect(context)
        defer { client.close() }
        try await load.setUp(client)
        _ = try await load.settled(client, context.loop, within: settleTime)
        let before = try await load.figures(client, process: process)
        let began = context.loop.now
        try await send(count, load, client, context.loop)
        let seconds = Double((context.loop.now - began).nanoseconds) / 1e9
        let isSettled = try await load.settled(client, context.loop, within: settleTime)
        let after = try await load.figures(client, process: process)
        var report = BenchReport()
        let events = after.events - before.events
        let processor = after.processorSeconds - before.processorSeconds
        report.add("events", Double(events), digits: 0)
        report.add("pushes", Double(after.pushes - before.pushes), digits: 0)
        report.add("seconds", seconds, digits: 2)
        report.add("events_per_second", Double(events) / seconds, digits: 0)
        report.add("cpu_us_per_event", processor / Double(max(1, events)) * 1e6, digits: 2)
        report.add(
            "cpu_us_per_push", processor / Double(max(1, after.pushes - before.pushes)) * 1e6,
            digits: 2)
        report.add("not_accepted", Double(after.failed - before.failed), digits: 0)
        if load.counts != nil {
            let allocations = after.allocations - before.allocations
            report.add("allocations", Double(allocations), digits: 0)
            report.add("bytes", Double(after.bytes - before.bytes), digits: 0)
        }
        try report.print(context)
        return isSettled && events == count ? .succeeded : .failed
    }

    private static func send(
        _ count: Int, _ load: RelayLoad, _ client: RelayClient, _ loop: EpollLoop
    ) async throws {
        let began = loop.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            var (sent, underWay) = (0, 0)
            while sent < count {
                if underWay == requests { try await group.next() } else { underWay += 1 }
                let (first, lines) = (sent, min(load.lines, count - sent))
                sent += lines
                group.addTask {
                    try await loop.sleep(until: load.due(first, since: began))
                    try await load.update(client, first, lines)
                }
            }
            try await group.waitForAll()
        }
    }
}

/// Makes the requests of the benchmark: devices, activities and their changes. For the loop only.
struct RelayLoad: Sendable {
    let activities: Int
    /// Number of lines in one request.
    let lines: Int
    let budgetClass: String
    /// Events a second; nil: as many as the relay takes.
    let rate: Int?
    /// The file in which `Yardsticks/allocations` counts for the relay; nil: it does not.
    let counts: String?

    /// When an event is sent.
    func due(_ index: Int, since began: MonotonicInstant) -> MonotonicInstant {
        rate.map { began + .nanoseconds(Int64(index) * 1_000_000_000 / Int64($0)) } ?? began
    }

    /// What a relay has done so far.
    struct Figures: Sendable {
        var events = 0
        var pushes = 0
        var answered = 0
        var failed = 0
        var processorSeconds = 0.0
        var (allocations, bytes) = (0, 0)
    }

    /// Registers a device for each activity, and starts the activity from its app.
    func setUp(_ client: RelayClient) async throws {
        for index in 0..<activities {
            let device = "/v1/devices/d\(index)"
            _ = try await client.send(
                RelayRequest(
                    "PUT", device, body: Array(#"{"budget_class":"\#(budgetClass)"}"#.utf8)),
                name: nil)
            let token = Hex.encode(SHA256.digest("token\(index)"))
            _ = try await client.send(
                RelayRequest(
                    "PUT", "\(device)/tokens/activity:a\(index)",
                    body: Array(#"{"token":"\#(token)"}"#.utf8)), name: nil)
        }
        for first in stride(from: 0, to: activities, by: lines) {
            try await append(client, first..<min(first + lines, activities)) { index in
                #"{"activity":"a\#(index)","do":"start","type":"Bench","#
                    + #""audience":{"device":"d\#(index)","start":"adopt"},"state":{"n":0}}"#
            }
        }
    }

    /// Sends updates of about 300 bytes, each with another state.
    func update(_ client: RelayClient, _ first: Int, _ count: Int) async throws {
        let note = String(repeating: "on the way ", count: 20)
        try await append(client, first..<(first + count)) { index in
            #"{"activity":"a\#(index % activities)","do":"update","#
                + #""state":{"n":\#(index),"note":"\#(note)"}}"#
        }
    }

    private func append(
        _ client: RelayClient, _ range: Range<Int>, _ line: (Int) -> String
    ) async throws {
        var body: [UInt8] = []
        for index in range {
            body += line(index).utf8
            body.append(10)
        }
        let request = RelayRequest(
            "POST", "/v1/events", fields: [("content-type", "application/x-ndjson")], body: body)
        let answer = try await client.send(request, name: nil)
        for line in answer.body.split(separator: 10) {
            guard try JSONDocument(Array(line)).root["ok"]?.bool == true else {
                throw ProgramError("the relay refused: \(String(decoding: line, as: UTF8.self))")
            }
        }
    }

    /// Waits until every push has its outcome and no new pushes come. Returns false if this takes
    /// longer than `time`.
    func settled(
        _ client: RelayClient, _ loop: EpollLoop, within time: Duration
    ) async throws -> Bool {
        let deadline = loop.now + time
        var last = Figures()
        while loop.now < deadline {
            let now = try await counts(client)
            if now.pushes == now.answered, now.pushes == last.pushes { return true }
            last = now
            // This is longer than the wait for a next frame, and for pushes waiting for a common
            // second.
            try await loop.sleep(for: .milliseconds(1_500))
        }
        return false
    }

    func figures(_ client: RelayClient, process: Int) async throws -> Figures {
        var figures = try await counts(client)
        figures.processorSeconds = try Self.processorSeconds(of: process)
        if let counts {
            let words = try FileBytes.read(counts).withUnsafeBytes {
                [Int64]($0.bindMemory(to: Int64.self))
            }
            guard words.count == 2 else { throw ProgramError("\(counts) has no two counts") }
            (figures.allocations, figures.bytes) = (Int(words[0]), Int(words[1]))
        }
        return figures
    }

    private func counts(_ client: RelayClient) async throws -> Figures {
        let text = try await client.send(RelayRequest("GET", "/metrics"), name: nil).body
        var figures = Figures()
        for line in text.split(separator: 10) {
            let words = line.split(separator: UInt8(ascii: " "))
            guard words.count == 2, let value = Int(String(decoding: words[1], as: UTF8.self))
            else { continue }
            let name = String(decoding: words[0], as: UTF8.self)
            if name.hasPrefix("tombolo_events_accepted_total") { figures.events = value }
            if name.hasPrefix("tombolo_pushes_sent_total") { figures.pushes = value }
            guard name.hasPrefix("tombolo_push_results_total") else { continue }
            figures.answered += value
            if !name.contains("\"accepted\"") { figures.failed += value }
        }
        return figures
    }

    /// User and system time of a process in seconds, from proc(5).
    private static func processorSeconds(of process: Int) throws(ProgramError) -> Double {
        // If the file is missing, the process does not exist: `bytes` is empty.
        let bytes = (try? FileBytes.read("/proc/\(process)/stat")) ?? []
        // Skip the program's name, which may contain any character. It ends at the last bracket.
        let rest = bytes.drop { $0 != UInt8(ascii: ")") }.dropFirst(2)
        let fields = rest.split(separator: UInt8(ascii: " "))
            .map { String(decoding: $0, as: UTF8.self) }
        guard fields.count > 13, let user = Double(fields[11]), let system = Double(fields[12])
        else {
            throw .usage("there is no process \(process)", remedy: "--pid of the relay")
        }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
}

extension Flag {
    static let relayRate = Flag(
        "rate", .integer(1...1_000_000), "events a second; without it as many as the relay takes")
    static let relayAllocations = Flag(
        "allocations", .file, "where the relay's allocations are counted")
    static let relayProcess = Flag(
        "pid", .integer(1...Int(Int32.max)), "the relay's process, on this machine")
    static let relayLines = Flag(
        "lines", .integer(1...200), default: "200", "events in each request")
    static let relayClass = Flag(
        "class", .choice(["standard", "frequent", "lab"]), default: "lab",
        "the budget class of the devices")
}

extension Subcommand {
    static let benchRelay = Subcommand(
        path: ["relay"], summary: "Measure what an event costs a running relay",
        flags: [
            .relay, .key, .caFile, .relayProcess, .benchEvents, .benchActivities, .relayLines,
            .relayClass, .relayRate, .relayAllocations, .output,
        ],
        details: [
            "Sends events to a relay on this machine and reads what CPU its process has used for\n"
                + "them: request, log, core, push and its outcome. Each activity has a device of\n"
                + "its own; in class lab nearly every event is a push. With a rate the pushes of an\n"
                + "event are the same for a fast and for a slow relay. deploy/bench relay starts the\n"
                + "relay and an endpoint, and tells where the time goes."
        ], examples: ["tombolo-bench relay --pid 4711 --count 200000 --key KEY"],
        exits: [.unreachable], run: BenchRelayCommand.run)
}
