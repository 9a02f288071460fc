// Rows of the command table: reading, importing and exporting the log.

extension Flag {
    static let limit = Flag("limit", .integer(1...1_000_000), "at most this many rows")
    static let since = Flag(
        "since", .integer(0...Int.max), "only what comes after this place in the log")
    static let kind = Flag(
        "kind", .choice(["command", "fact", "all"]), default: "command",
        "what producers did, what the relay learned, or both")
    static let tailKind = Flag(
        "kind", .choice(["command", "fact", "all"]),
        "what producers did, what the relay learned, or both")
    static let facts = toggle("facts", "only what the relay learned: --kind fact")
    static let fact = Flag(
        "fact", .text("NAME"), "only facts of these names, such as card.began,card.dismissed")
    static let result = Flag(
        "result", .text("NAME"), "only pushes that ended so, such as refused,skipped")
    static let cursor = Flag(
        "cursor", .text("CURSOR"), "go on behind a line, by the cursor that it had")
    static let onlyDo = Flag(
        "do", .choice(["start", "update", "end", "play", "stop"]), "only commands of this kind")
    static let byKey = Flag("by", .text("KEY"), "only what the key with this id asked for")
    static let from = Flag("from", .text("TIME"), "recorded then or later")
    static let until = Flag("until", .text("TIME"), "recorded before")
    static let quiet = toggle("quiet", short: "q", "no progress on stderr")
    static let ofActivity = Flag("activity", .text("ID"), "only this activity's")
}

extension Subcommand {
    static let append = Subcommand(
        path: ["append"], summary: "Send many events, one JSON object a line",
        arguments: [
            Argument("FILE", .file, optional: true, "the lines; - (or none) is stdin")
        ], flags: [.quiet] + Flag.ofWriters,
        details: [
            "Every line is answered once it is durable. -o jsonl prints the answers in the order of\n"
                + "the lines; json and table print how many were taken and refused."
        ],
        examples: [
            "tombolo append events.ndjson",
            "generate | tombolo append - -o jsonl >answers.ndjson",
        ], exits: [.unauthorized, .unreachable, .partly], run: StreamCommands.append)

    static let tail = Subcommand(
        path: ["tail"], summary: "Print events as they come, one JSON object a line",
        flags: [
            .since, .cursor, .tailKind, .facts, .fact, .result, .ofActivity, .onlyType, .ofDevice,
            .ofUser, Flag("limit", .integer(1...Int.max), "end after this many events"),
        ] + Flag.ofClients,
        details: [
            "Facts tell what became of it: push.accepted, push.refused, push.skipped, push.expired,\n"
                + "card.began, card.dismissed, card.lost, presence.covered, presence.leaving,\n"
                + "presence.returning, action, timeline.due. A tail that is cut goes on where it was."
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
        arguments: [Argument("SEQ", .integer(1...Int.max), "its place in the log")],
        flags: Flag.ofClients, examples: ["tombolo log show 1042"], run: ReadCommands.logShow)

    static let eraseActivity = Subcommand(
        path: ["erase", "activity"], summary: "Erase what an ended activity said and showed",
        arguments: [.activity], flags: Flag.ofWriters,
        details: [
            "In the log its events stay as tombstones: when each came and of what kind. Backups\n"
                + "made before still have it."
        ], examples: ["tombolo erase activity cat-7"]
    ) { try await ReadCommands.erase($0, "activities") }

    static let eraseDevice = Subcommand(
        path: ["erase", "device"],
        summary: "Erase a device, what names it, and activities for it alone",
        arguments: [Argument("DEVICE", .text("DEVICE"), "the device, registered or not")],
        flags: Flag.ofWriters,
        details: [
            "Activities that were for this device alone are erased too, also running ones. Of those\n"
                + "for others too, the starts that name it are. Backups made before still have it."
        ], examples: ["tombolo erase device phone-1"]
    ) { try await ReadCommands.erase($0, "devices") }
}
