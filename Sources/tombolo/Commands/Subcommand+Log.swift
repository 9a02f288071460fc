// Rows of the table: the log, in and out.

extension Flag {
    static let limit = Flag("limit", .integer(1...1_000_000), "at most this many rows")
    static let since = Flag(
        "since", .integer(0...Int.max), "only what comes after this place in the log")
    static let kind = Flag(
        "kind", .choice(["command", "fact", "all"]), default: "command",
        "what producers did, what the relay learned, or both")
    static let quiet = toggle("quiet", short: "q", "no progress on stderr")
    static let ofActivity = Flag("activity", .text("ID"), "only this activity's")
}

extension Subcommand {
    static let append = Subcommand(
        path: ["append"], summary: "Send many events, one JSON object a line",
        arguments: [
            Argument(
                "FILE", .file, optional: true, "the lines; - (or none) is stdin")
        ],
        flags: [.quiet] + Flag.ofClients,
        details: [
            "Every line is answered once it is durable. -o jsonl prints the answers in the order of\n"
                + "the lines; json and table print how many were taken and refused."
        ],
        examples: [
            "tombolo append events.ndjson",
            "generate | tombolo append - -o jsonl >answers.ndjson",
        ],
        exits: [.unauthorized, .unreachable, .partly], run: StreamCommands.append)

    static let tail = Subcommand(
        path: ["tail"], summary: "Print events as they come, one JSON object a line",
        flags: [
            .since, .ofActivity, .onlyType,
            Flag("limit", .integer(1...Int.max), "end after this many events"),
        ] + Flag.ofClients,
        examples: ["tombolo tail --since 0 --activity cat-7"],
        exits: [.unauthorized, .unreachable], run: StreamCommands.tail)

    static let logList = Subcommand(
        path: ["log", "ls"], summary: "List events of the log, oldest first",
        flags: [
            .ofActivity, .kind, .since,
            Flag("limit", .integer(1...1_000_000), default: "100", "at most this many rows"),
        ] + Flag.ofClients,
        examples: ["tombolo log ls --activity cat-7 -o jsonl"],
        exits: [.unauthorized, .unreachable], run: ReadCommands.logList)

    static let logShow = Subcommand(
        path: ["log", "show"], summary: "Show one event of the log",
        arguments: [Argument("SEQ", .integer(1...Int.max), "its place in the log")],
        flags: Flag.ofClients,
        examples: ["tombolo log show 1042"],
        exits: [.notFoundOrConflict, .unauthorized, .unreachable], run: ReadCommands.logShow)
}
