import CLinux
import Glibc
import TomboloAPI
import TomboloCore
import TomboloJSON
import TomboloProgram

/// `bench timelines`: measures the memory of a timeline, the cost of its weekly renewal, and how
/// fast widgets get answers.
enum BenchTimelinesCommand {
    static func run(_ context: CommandContext) async throws -> ExitStatus {
        let count = context.invocation.integer(.timelineCount) ?? 100_000
        var report = BenchReport()
        report.add("timelines", Double(count), digits: 0)
        let before = BenchPacerCommand.residentBytes()
        var world = try TimelineWorld(count)
        tombolo_release_free_memory()
        let bytes = BenchPacerCommand.residentBytes() - before
        report.add("timeline_bytes", Double(bytes) / Double(count), digits: 0)
        let monday = BenchPacerCommand.processorTime()
        let asked = world.passWeek()
        let wave = BenchPacerCommand.processorTime() - monday
        report.add("asked", Double(asked), digits: 0)
        report.add("ask_us", wave / Double(max(1, asked)) * 1e6, digits: 3)
        let reading = BenchPacerCommand.processorTime()
        let fetched = try world.fetch(20_000)
        let read = BenchPacerCommand.processorTime() - reading
        report.add("fetched", Double(fetched), digits: 0)
        report.add("fetches_per_s", Double(fetched) / read, digits: 0)
        try report.print(context)
        return .succeeded
    }
}

/// A core with many weekly timelines. Each is for a user with one device.
struct TimelineWorld: ~Copyable {
    private static let kind = "profile"

    private var core: Core
    private var now = Instant(seconds: 1_700_000_000)
    private let count: Int
    private var ticket: UInt64 = 0
    private var seq: Int64 = 0
    private var factSeq: Int64 = 0
    private var asked = 0

    init(_ count: Int) throws {
        self.count = count
        var configuration = CoreConfiguration(apps: [
            CoreConfiguration.App(
                tenant: .main, id: "com.example.app", environment: .sandbox, allowsLab: true)
        ])
        configuration.zones = ZoneDirectory.shared
        core = Core(configuration: configuration, seed: 1)
        for index in 0..<count {
            try add(index)
            if index % 1_000 == 999 { commit() }
        }
        commit()
    }

    private mutating func add(_ index: Int) throws {
        guard let id = Identifier("d\(index)"), let kind = Identifier(Self.kind) else { return }
        let device = try DeviceRegistration(
            reading: JSONDocument(
                Array(#"{"user":"u\#(index)","os":"26.1","time_zone":"Europe/Berlin"}"#.utf8)
            ).root)
        take(.device(DeviceKey(tenant: .main, id: id), .register(device), next()))
        let body =
            #"{"subject":{"user":"u\#(index)"},"content":{"name":"Somebody \#(index)","rank":3},"#
            + #""url":"app://me","schedule":{"weekly":{"on":"monday","at":"06:00","#
            + #""zone":"device"},"count":3}}"#
        let request = try TimelineRequest(reading: JSONDocument(Array(body.utf8)).root)
        take(.timeline(.put(request, kind: kind), .main, next()))
    }

    private mutating func next() -> Ticket {
        ticket += 1
        return Ticket(ticket)
    }

    /// Advances the time by a week. Returns how often producers were asked for new content.
    mutating func passWeek() -> Int {
        let end = now + .hours(168)
        while let wake = core.nextWake, wake <= end {
            now = max(now, wake)
            take(.tick)
            commit()
        }
        now = end
        return asked
    }

    /// Answers `times` widgets, each on another device. Returns how many got entries.
    mutating func fetch(_ times: Int) throws -> Int {
        guard let kind = Identifier(Self.kind) else { return 0 }
        var fetched = 0
        for index in 0..<times {
            guard let id = Identifier("d\(index * 7_919 % count)") else { continue }
            let entries = try core.entries(
                kind, app: nil, nil, family: .systemSmall, by: .device(id, boundTo: nil),
                of: .main, now: now)
            var writer = JSONWriter(capacity: entries.bytesMax)
            var text = TimelineEntriesText(entries)
            while text.writePiece(to: &writer) {}
            fetched += entries.isEmpty ? 0 : 1
        }
        return fetched
    }

    private mutating func commit() {
        while let batch = core.takeBatch(now: now) {
            let (first, firstFact) = (seq + 1, factSeq + 1)
            seq += Int64(batch.events.count)
            factSeq += Int64(batch.facts.count)
            asked += batch.facts.count { $0.kind == "timeline.due" }
            take(.committed(AppendReceipt(firstSeq: first, firstFactSeq: firstFact, of: batch)))
        }
    }

    private mutating func take(_ input: Input) {
        var effects = Effects()
        core.step(input, now: now, effects: &effects)
    }
}
