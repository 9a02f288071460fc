import TomboloProgram

// Rows of the command table: benchmarks.

extension Flag {
    static let benchData = Flag("data", .directory, "the directory of the log; kept afterwards")
    static let benchEvents = Flag(
        "count", .integer(1...1_000_000_000), default: "100000", "how many events")
    static let benchBatch = Flag(
        "batch", .integer(1...100_000), default: "1000", "how many become durable together")
    static let benchActivities = Flag(
        "activities", .integer(1...10_000_000), default: "1000", "how many take turns")
    static let benchIDs = toggle("ids", "each event has an idempotency key")
    static let benchNew = toggle("new", "each event starts an activity of its own")
    static let benchNewEvery = Flag(
        "new-every", .integer(2...1_000_000),
        "of so many events one starts an activity of its own")
    static let benchAge = Flag(
        "age", .integer(1...100_000),
        "record the events so many hours ago; with --new each activity has retired")
    static let benchGap = Flag(
        "gap", .integer(0...10_000), default: "0", "milliseconds from one batch to the next")
    static let benchPages = Flag(
        "pages", .integer(1...1_000_000), default: "20", "how many of each kind")
    static let historyFacts = Flag(
        "count", .integer(0...1_000_000_000), default: "100000",
        "how many facts are written before the pages are read")
    static let pacerDestinations = Flag(
        "destinations", .integer(100...10_000_000), default: "100000",
        "how many ways to a card there are")
    static let timelineCount = Flag(
        "count", .integer(100...10_000_000), default: "100000", "how many timelines there are")
    static let benchAcknowledged = toggle(
        "acknowledged", "a line with the last durable sequence after each batch")
}

extension Subcommand {
    static let benchAppend = Subcommand(
        path: ["append"], summary: "Measure the log: durable events a second",
        flags: [
            .benchData, .database, .benchEvents, .benchBatch, .benchActivities, .benchIDs,
            .benchNew, .benchNewEvery, .benchAge, .benchGap, .benchAcknowledged, .output,
        ],
        details: [
            "Events of 300 bytes go through the log's contract, one batch in flight: versions are\n"
                + "checked, heads and checksums written, and each batch is durable before the next.\n"
                + "A log that is there already goes on growing. What is older than 30 days is cut\n"
                + "meanwhile: max_ms tells how long a batch waited for that at most."
        ], examples: ["tombolo-bench append --data /var/tmp/bench --count 1000000 -o json"],
        exits: [.notFoundOrConflict], run: BenchAppendCommand.run)

    static let benchPacer = Subcommand(
        path: ["pacer"],
        summary: "Measure pacing: a decision, a change, a wake-up, a destination at rest",
        flags: [.pacerDestinations, .output],
        details: [
            "The core alone, with a disk and an Apple without delay. decision_ns is the pacer's word\n"
                + "on one wish; change_us all that a change costs at one destination, its push\n"
                + "included; wake_us the same for one that waited; rest_mb what everything takes\n"
                + "in memory while nothing happens, devices and activities included."
        ], examples: ["tombolo-bench pacer --destinations 1000000 -o json"],
        run: BenchPacerCommand.run)

    static let benchTimelines = Subcommand(
        path: ["timelines"],
        summary: "Measure timelines: one at rest, a Monday's wave, and fetches",
        flags: [.timelineCount, .output],
        details: [
            "The core alone: weekly timelines of as many users, each with one device.\n"
                + "timeline_bytes is what one takes in memory with its device; ask_us what it costs to\n"
                + "ask a producer after the boundary; fetches_per_s how many widgets one core answers."
        ], examples: ["tombolo-bench timelines --count 100000 -o json"],
        run: BenchTimelinesCommand.run)

    static let benchHistory = Subcommand(
        path: ["history"],
        summary: "Measure facts: writing one, keeping one, and pages of them",
        flags: [.benchData, .historyFacts, .benchBatch, .benchPages, .output],
        details: [
            "Facts as a relay writes them about pushes, over 100,000 activities and as many devices,\n"
                + "go through the log's contract. Then pages of 100 facts are read, newest first. The\n"
                + "CPU of the reading thread for the slowest of each is given in milliseconds, and how\n"
                + "many facts that page had. A log that is there already goes on growing."
        ], examples: ["tombolo-bench history --data /var/tmp/bench --count 10000000 -o json"],
        exits: [.notFoundOrConflict], run: BenchHistoryCommand.run)

    static let benchReplay = Subcommand(
        path: ["replay"], summary: "Measure reading a log from its beginning",
        flags: [.benchData, .output],
        details: ["Checksums, versions and back pointers of every event, on one core."],
        examples: ["tombolo-bench replay --data /var/tmp/bench -o json"],
        exits: [.notFoundOrConflict], run: BenchReplayCommand.run)

    static let benchPage = Subcommand(
        path: ["page"], summary: "Measure filtered pages of a log",
        flags: [.benchData, .benchPages, .output],
        details: [
            "Pages of 100 events, each from another place: of one activity, of a time, of a kind that\n"
                + "is rare, and of one that never was; and states of the past. The slowest of each is\n"
                + "given in milliseconds. A page of a kind or time may come back short, after 100,000\n"
                + "events were looked at."
        ], examples: ["tombolo-bench page --data /var/tmp/bench -o json"],
        exits: [.notFoundOrConflict], run: BenchPageCommand.run)
}

extension CommandTable {
    /// The commands of `tombolo-bench`.
    static let bench = CommandTable(
        "tombolo-bench", summary: "What Tombolo costs, measured.",
        [
            (
                "Measure",
                [
                    .benchPush, .benchAppend, .benchReplay, .benchPage, .benchPacer,
                    .benchTimelines, .benchFrames, .benchRelay, .benchHistory,
                ]
            )
        ])
}
