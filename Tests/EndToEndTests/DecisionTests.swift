import Testing
import TomboloCore
import TomboloJSON

@testable import TomboloProgram

/// Every event and every frame ends in exactly one decision at each phone, by the word of the real
/// program over HTTP: what was asked for is known here, and summed up again.
@Suite(.serialized) struct DecisionTests {
    private static let phones = ["phone-1", "phone-2", "phone-3"]
    /// So often something is asked for: half a minute and more.
    private static let patience = 4_000

    /// A relay with its three phones: `lab`, `frequent` and `standard`.
    private struct Desk {
        let dev: RunningRelay

        @discardableResult
        func call(_ method: String, _ path: String, _ body: String? = nil) throws -> JSONView {
            var words = [
                "curl", "-sS", "--fail-with-body", "--max-time", "120", "-X", method,
                "-H", "Authorization: Bearer \(dev.key)", dev.api + path,
            ]
            if let body { words += ["-H", "Content-Type: application/json", "-d", body] }
            let result = try Shell.run(words)
            guard result.status == 0 else {
                throw TestFailure("\(method) \(path): \(result.output)\(result.errors)")
            }
            return try json(result.output)
        }

        func books(_ page: JSONView) -> [JSONView] {
            page["destinations"].map { Array($0.elements) } ?? []
        }

        /// Asks until it is so.
        func waitFor(
            _ path: String, _ what: String, _ isSo: (JSONView) -> Bool
        ) throws -> JSONView {
            var view = try call("GET", path)
            for _ in 0..<DecisionTests.patience {
                if isSo(view) { return view }
                view = try call("GET", path)
            }
            throw TestFailure("\(what) does not come: \(view.json)")
        }
    }

    private static func count(_ view: JSONView?, _ names: [String]) -> Int64 {
        names.reduce(0) { $0 + (view?[$1]?.integer ?? 0) }
    }

    private static let events = ["sent", "merged", "skipped", "expired", "refused", "waiting"]
    private static let frames = ["sent", "merged", "skipped"]

    @Test func `at each phone decisions add up to all events and frames, and each is listed once`()
        throws
    {
        let desk = Desk(dev: try RunningRelay())
        let path = "/v1/activities/cat-7"
        try play(desk, path)
        let page = try desk.waitFor("\(path)/deliveries?limit=1000", "the last decision") { page in
            let books = desk.books(page)
            return books.count == 3
                && books.allSatisfy {
                    $0["phase"]?.string == "ended" && $0["events"]?["waiting"]?.integer == 0
                }
        }
        #expect(page["next_cursor"]?.isNull == true)
        let log = try desk.call("GET", "/v1/log?activity=cat-7&kind=command&limit=100")
        let commands = log["events"].map { Array($0.elements) } ?? []
        let asked = try Self.framesAsked(commands)
        for name in Self.phones {
            let books = try #require(desk.books(page).first { $0["device"]?.string == name })
            // Events: as many as were posted, each with one decision.
            #expect(books["events"]?["asked"]?.integer == Int64(commands.count))
            #expect(Self.count(books["events"], Self.events) == Int64(commands.count))
            try checkRows(page, name, books["events"], versions: Int64(commands.count))
            // Frames: as many as the producer's clock asked for between `play` and `end`.
            let counts = books["frames"]
            #expect(asked.contains(counts?["asked"]?.integer ?? 0), "\(name): \(asked)")
            #expect(Self.count(counts, Self.frames) == counts?["asked"]?.integer)
            let reasons = ["slowed", "no_route", "hidden", "paused", "unchanged"]
            #expect(Self.count(counts?["skipped_by"], reasons) == counts?["skipped"]?.integer)
        }
        // Not by standing still: the fast phone got nearly all frames, the slow one nearly none.
        let sent = desk.books(page).map { $0["frames"]?["sent"]?.integer ?? 0 }
        #expect((sent.max() ?? 0) > 15)
        #expect((sent.min() ?? 99) < 5)
    }

    /// Nine events: a start, four updates, one of them of no effect and one outdated, a clip with
    /// an alert in the middle of it, and an end.
    private func play(_ desk: Desk, _ path: String) throws {
        let devices = Self.phones.map { "\"\($0)\"" }.joined(separator: ",")
        try desk.call(
            "PUT", path,
            #"{"type":"RunnerWidgetAttributes","audience":{"devices":[\#(devices)]},"#
                + #""state":{"image":"a"},"alert":{"title":"Off","body":"Go"}}"#)
        _ = try desk.waitFor("\(path)/deliveries", "the phones' tokens") { page in
            desk.books(page).filter { $0["phase"]?.string == "live" }.count == 3
        }
        try desk.call("PATCH", path, #"{"state":{"image":"b"},"state_version":7}"#)
        try desk.call("PATCH", path, #"{"state":{"image":"c"},"state_version":6}"#)
        try desk.call("PATCH", path, #"{"state":{"image":"b"}}"#)
        try desk.call(
            "POST", "\(path)/clips",
            #"{"flipbook":{"path":"/image","frames":["d","e","f","g"],"every":"100ms"}}"#)
        let page = try desk.waitFor("\(path)/deliveries", "the frames") { page in
            desk.books(page).allSatisfy { $0["frames"]?["asked"]?.integer ?? 0 >= 25 }
        }
        for books in desk.books(page) { checkSeconds(books) }
        try desk.call(
            "PATCH", path,
            #"{"state":{"image":"h"},"alert":{"title":"Lap","body":"One more"}}"#)
        try desk.call("PATCH", path, #"{"state":{"image":"i"}}"#)
        try desk.call("POST", "\(path)/end", #"{"dismiss":"now"}"#)
    }

    /// Frames by the second add up to all frames, and a whole second has ten.
    private func checkSeconds(_ books: JSONView) {
        let seconds = books["seconds"].map { Array($0.elements) } ?? []
        #expect(seconds.count >= 2)
        for second in seconds {
            #expect(Self.count(second, Self.frames) == second["asked"]?.integer)
        }
        #expect(
            seconds.reduce(0) { $0 + (($1["asked"]?.integer) ?? 0) }
                == books["frames"]?["asked"]?.integer)
        let times = seconds.compactMap { $0["at"]?.string }
        #expect(times == times.sorted() && Set(times).count == times.count)
    }

    /// Each version is decided in one row, and the rows are the counts.
    private func checkRows(
        _ page: JSONView, _ phone: String, _ counts: JSONView?, versions: Int64
    ) throws {
        var decided: [Int64: Int] = [:]
        var rows: [String: Int64] = [:]
        for row in page["deliveries"].map({ Array($0.elements) }) ?? []
        where row["device"]?.string == phone {
            // A push that decided nothing new: an alert's whose state had gone before.
            guard let action = row["action"]?.string else { continue }
            decided[try #require(row["version"]?.integer), default: 0] += 1
            rows[action, default: 0] += 1
            let merged = row["merged"].map { $0.elements.compactMap(\.integer) } ?? []
            guard merged.count == 2 else { continue }
            for version in merged[0]...merged[1] { decided[version, default: 0] += 1 }
            rows["merged", default: 0] += merged[1] - merged[0] + 1
        }
        #expect(decided.keys.sorted() == Array(1...versions), "\(phone)")
        #expect(decided.values.allSatisfy { $0 == 1 }, "\(phone): \(decided)")
        // A merged range may hide one that was passed over: together they are as many.
        let either = ["merged", "skipped"]
        #expect(either.reduce(0) { $0 + (rows[$1] ?? 0) } == Self.count(counts, either), "\(phone)")
        for action in ["sent", "expired", "refused"] {
            #expect(rows[action] ?? 0 == counts?[action]?.integer, "\(phone): \(action)")
        }
    }

    /// How many frames the clip asked for: one each 100 ms from `play` to `end`, by the log's times
    /// in milliseconds; and one that may go while the end is on its way to the disk.
    private static func framesAsked(_ commands: [JSONView]) throws -> ClosedRange<Int64> {
        func at(_ kind: String) throws -> Instant {
            let event = try #require(commands.first { $0["do"]?.string == kind })
            return try #require(event["recorded_at"]?.string.flatMap(Instant.init(rfc3339:)))
        }
        let elapsed = (try at("end") - at("play")).nanoseconds / 1_000_000
        return ((elapsed - 1) / 100 + 1)...((elapsed + 1) / 100 + 2)
    }
}
