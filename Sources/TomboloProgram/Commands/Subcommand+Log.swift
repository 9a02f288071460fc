// Rows of the command table: reading, importing and exporting the log.

extension Flag {
    static let limit = Flag("limit", .integer(1...1_000_000), "at most this many rows")
    static let since = Flag(
        "since", .integer(0...Int.max), "only what comes after this position in the log")
    static let kind = Flag(
        "kind", .choice(["command", "fact", "all"]), default: "command",
        "commands of producers, facts that the relay recorded, or both")
    static let tailKind = Flag(
        "kind", .choice(["command", "fact", "all"]),
        "commands of producers, facts that the relay recorded, or both")
    static let facts = toggle("facts", "only facts that the relay recorded: --kind fact")
    static let fact = Flag(
        "fact", .text("NAME"), "only facts with these names, such as card.began,card.dismissed")
    static let result = Flag(
        "result", .text("NAME"), "only pushes with these results, such as refused,skipped")
    static let cursor = Flag(
        "cursor", .text("CURSOR"), "continue after the line with this cursor")
    static let onlyDo = Flag(
        "do", .choice(["start", "update", "end", "play", "stop"]), "only commands of this kind")
    static let byKey = Flag("by", .text("KEY"), "only requests with the key that has this id")
    static let from = Flag("from", .text("TIME"), "only what was recorded at this time or later")
    static let until = Flag("until", .text("TIME"), "only what was recorded before this time")
    static let quiet = toggle("quiet", short: "q", "no progress on stderr")
    static let ofActivity = Flag("activity", .text("ID"), "only this activity")
}

extension Subcommand {
    static let append = Subcommand(
        path: ["append"], summary: "Send many events, one JSON object per line",
        arguments: [
            Argument("FILE", .file, optional: true, "the lines; stdin if it is - or left out")
        ], flags: [.quiet] + Flag.ofWriters,
        details: [
            "Each line gets an answer when it is durable. -o jsonl prints the answers in the order of\n"
                + "the lines; json and table print how many were accepted and refused. The lines go in\n"
                + "requests of at most one second or about 1 MB, each answered at its end."
        ],
        examples: [
            "tombolo append events.ndjson",
            "generate | tombolo append - -o jsonl >answers.ndjson",
        ], exits: [.unauthorized, .unreachable, .partly], run: StreamCommands.append)

    static let tail = Subcommand(
        path: ["tail"], summary: "Print events as they are recorded, one JSON object per line",
        flags: [
            .since, .cursor, .tailKind, .facts, .fact, .result, .ofActivity, .onlyType, .ofDevice,
            .ofUser, Flag("limit", .integer(1...Int.max), "stop after this many events"),
        ] + Flag.ofClients,
        details: [
            "Facts are the results of commands: push.accepted, push.refused, push.skipped,\n"
                + "push.expired, card.began, card.dismissed, card.lost, presence.covered, presence.leaving,\n"
                + "presence.returning, action, timeline.due. If the connection breaks, the tail continues\n"
                + "where it was."
        ],
        examples: [
            "tombolo tail --since 0 --activity cat-7", "tombolo tail --facts",
            "tombolo tail --fact action",
        ], exits: [.unauthorized, .unreachable], run: StreamCommands.tail)

    static let logList = Subcommand(
        path: ["log", "ls"], summary: "List events of the log, oldest first",
        flags: [
            .ofActivity, .kind, .onlyDo, .byKey, .from, .until, .since,
            Flag("limit", .integer(1...1_000_000), default: "100", "at most this many rows"),
        ] + Flag.ofClients,
        examples: [
            "tombolo log ls --activity cat-7 -o jsonl",
            "tombolo log ls --do end --from 2026-11-20T09:00:00Z --until 2026-11-20T10:00:00Z",
        ], exits: [.notFoundOrConflict, .unauthorized, .unreachable], run: ReadCommands.logList)

    static let logShow = Subcommand(
        path: ["log", "show"], summary: "Show one event of the log",
        arguments: [Argument("SEQ", .integer(1...Int.max), "its position in the log")],
        flags: Flag.ofClients, examples: ["tombolo log show 1042"], run: ReadCommands.logShow)

    static let eraseActivity = Subcommand(
        path: ["erase", "activity"], summary: "Erase the content of an ended activity",
        arguments: [.activity], flags: Flag.ofWriters,
        details: [
            "Its events stay in the log without content: only their time and kind. Earlier backups\n"
                + "still contain all of it."
        ], examples: ["tombolo erase activity cat-7"]
    ) { try await ReadCommands.erase($0, "activities") }

    static let eraseDevice = Subcommand(
        path: ["erase", "device"],
        summary: "Erase a device, all that names it, and activities only for it",
        arguments: [Argument("DEVICE", .text("DEVICE"), "the device, registered or not")],
        flags: Flag.ofWriters,
        details: [
            "Activities only for this device are erased too, even if they run. Of activities that are\n"
                + "also for others, the starts that name the device are erased. Earlier backups still\n"
                + "contain all of it."
        ], examples: ["tombolo erase device phone-1"]
    ) { try await ReadCommands.erase($0, "devices") }
}
