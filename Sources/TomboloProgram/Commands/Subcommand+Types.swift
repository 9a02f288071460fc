// Rows of the command table: types, lints, dead letters.

extension Flag {
    static let typeFile = Flag("type", .file, "a file with the type's description, as in type put")
    static let swift = toggle("swift", "print Swift, so far the only language; required")
    static let ofDevice = Flag("device", .text("DEVICE"), "only this device")
    static let reason = Flag(
        "reason", .text("REASON"), "only those with this reason of Apple's, such as BadDeviceToken")
    static let requestKind = Flag(
        "kind", .choice(["refused", "slow"]), "only refused requests, or only slow ones")
    static let code = Flag(
        "code", .text("CODE"), "only those with this code of a problem, such as invalid-field")
    static let everything = toggle("all", "all dead letters")
    static let live = toggle("live", "ask only whether the process answers")
}

extension Argument {
    static let typeName = Argument("TYPE", .text("TYPE"), "the ActivityAttributes type")
}

extension Subcommand {
    static let typePut = Subcommand(
        path: ["type", "put"], summary: "Register an app's ActivityAttributes type",
        arguments: [
            .typeName, Argument("FILE", .file, "the description, a JSON object"),
        ], flags: [.app] + Flag.ofWriters,
        details: [
            "The description: {\"state\": JSON Schema of the content state, \"dates\":\n"
                + "\"swift-reference\"|\"unix\"|\"iso8601\", \"budget_class\", \"id_at\", \"version_at\",\n"
                + "\"plays\", \"animates\", \"on_unknown_start\"}. Of JSON Schema it reads type, properties,\n"
                + "required, additionalProperties, items, enum, const, minimum, maximum, minLength,\n"
                + "maxLength, minItems, maxItems and format; a member of format date-time is encoded\n"
                + "for the phone as \"dates\" says."
        ], examples: ["tombolo type put RunnerWidgetAttributes runner.json"], run: TypeCommands.put)

    static let typeList = Subcommand(
        path: ["type", "ls"], summary: "List the registered types",
        flags: [.limit] + Flag.ofClients, examples: ["tombolo type ls"], run: ReadCommands.typeList)

    static let typeShow = Subcommand(
        path: ["type", "show"], summary: "Show a registered type",
        arguments: [.typeName], flags: [.app] + Flag.ofClients,
        examples: ["tombolo type show RunnerWidgetAttributes"], run: TypeCommands.show)

    static let typeCheck = Subcommand(
        path: ["type", "check"], summary: "Check a state against a type",
        arguments: [.typeName, Argument("FILE", .file, "the state, a JSON object")],
        flags: [.typeFile, .app] + Flag.ofClients,
        details: ["With --type FILE the command needs no relay."],
        examples: [
            "tombolo type check RunnerWidgetAttributes state.json",
            "tombolo type check RunnerWidgetAttributes state.json --type runner.json",
        ],
        exits: [.notFoundOrConflict, .unauthorized, .unreachable, .lint], run: TypeCommands.check)

    static let typeCodegen = Subcommand(
        path: ["type", "codegen"], summary: "Print a registered type as code for the app",
        arguments: [.typeName], flags: [.swift, .app, .relay, .key, .caFile],
        details: [
            "The code is a struct of ActivityAttributes with its ContentState. A member that is\n"
                + "required and not null is not optional. Texts and integers with an enum in the schema are\n"
                + "a Swift enum. A date is a Date if \"dates\" is swift-reference, else a Double (unix) or\n"
                + "a String (iso8601). A member without a single type is a JSONValue, which the code then\n"
                + "contains.",
            "The code has one attribute: the card's name, at \"id_at\". Add the other "
                + "attributes of your starts.",
        ],
        examples: [
            "tombolo type codegen RunnerWidgetAttributes --swift",
            "tombolo type codegen RunnerWidgetAttributes --swift > RunnerWidgetAttributes.swift",
        ], run: TypeCommands.codegen)

    static let lint = Subcommand(
        path: ["lint"], summary: "Find mistakes in a push or a start that phones ignore in silence",
        arguments: [
            Argument(
                "FILE", .file,
                "a push {\"aps\":…}, {\"headers\":…,\"payload\":…}, or a start {\"type\",\"state\"}"
            )
        ], flags: [.typeFile, .output],
        examples: [
            "tombolo lint push.json", "tombolo lint start.json --type runner.json -o json",
        ], exits: [.lint], run: LintCommand.run)

    static let doctor = Subcommand(
        path: ["doctor"],
        summary: "Find out what is wrong with the relay or its connection to Apple",
        arguments: [Argument("FILE", .file, optional: true, "instead of --config")],
        flags: Flag.ofConfiguration + [.credentials, .askedRelay, .key, .caFile, .output],
        details: [
            "Asks the relay of --relay, or one at the configured address, whether it accepts events.\n"
                + "With a key of the tenant main and scope operate, the relay also reports its disk, log,\n"
                + "clock, certificate, upstreams and authorities. With --relay and no configuration it asks\n"
                + "only that relay.",
            "With a database in the configuration it tries that as config check --connect does, but\n"
                + "not if the relay of --relay answers.",
            "Sends one push to the endpoint of each app, to a token that no phone has. The answer\n"
                + "shows whether key, team, environment, topic and clock are right. No phone receives the\n"
                + "push.",
        ],
        examples: [
            "tombolo doctor --config /etc/tombolo/tombolo.json",
            "tombolo doctor --relay http://127.0.0.1:8780",
            "TOMBOLO_KEY_FILE=operator.key tombolo doctor --config tombolo.json",
        ], exits: [.unreachable, .lint], run: DoctorCommand.run)

    static let ready = Subcommand(
        path: ["ready"], summary: "Ask whether the relay accepts events, or runs",
        arguments: [Argument("FILE", .file, optional: true, "instead of --config")],
        flags: Flag.ofConfiguration + [.live, .askedRelay, .caFile],
        details: [
            "For load balancers: without --live it fails while the relay accepts no events. For\n"
                + "supervisors: with --live it succeeds while the process answers, even if the disk is\n"
                + "full, or the log or Apple cannot be reached. A restart would not help then."
        ],
        examples: [
            "tombolo ready --config /etc/tombolo/tombolo.json",
            "tombolo ready --live --relay http://127.0.0.1:8780",
        ], exits: [.unreachable], run: ReadyCommand.run)

    static let requests = Subcommand(
        path: ["requests"], summary: "List requests that the relay refused, or that were slow",
        flags: [.requestKind, .code, .ofActivity, .limit] + Flag.ofClients,
        details: [
            "The newest ones; a restart of the relay forgets them. Slow ones took more than 100 ms. A\n"
                + "batch with refused lines is one row, with its first refused line; -o json has three.\n"
                + "Requests without a valid key are listed for a key of scope operate of the tenant main."
        ],
        examples: ["tombolo requests --kind refused", "tombolo requests --activity cat-7 -o json"],
        run: ReadCommands.requests)

    static let search = Subcommand(
        path: ["search"], summary: "Find activities, devices, users, types and deliveries by id",
        arguments: [Argument("TEXT", .text("TEXT"), "the first 1 to 128 characters of an id")],
        flags: Flag.ofClients,
        details: [
            "At most 8 of each kind. A delivery is found by its whole id or apns-id, and an activity\n"
                + "that has left memory by its whole id."
        ],
        examples: ["tombolo search order-1", "tombolo search u1 -o json"],
        run: ReadCommands.searchAll)

    static let deadList = Subcommand(
        path: ["dead", "ls"], summary: "List pushes that Apple refused permanently",
        flags: [.ofActivity, .ofDevice, .reason, .limit] + Flag.ofClients,
        examples: ["tombolo dead ls --reason BadTopic"], run: ReadCommands.deadList)

    static let deadRetry = Subcommand(
        path: ["dead", "retry"], summary: "Send the newest state again where Apple refused a push",
        arguments: [
            Argument(
                "ID", .text("ID"), optional: true, "one dead letter; not with a filter or --all")
        ], flags: [.ofActivity, .ofDevice, .reason, .everything] + Flag.ofWriters,
        details: [
            "A dead letter whose card is gone is kept, and nothing is sent for it. Status 6 if some\n"
                + "dead letters are kept, 3 if all are."
        ], examples: ["tombolo dead retry dead_7", "tombolo dead retry --reason TopicDisallowed"],
        exits: [.notFoundOrConflict, .unauthorized, .unreachable, .partly],
        run: DeadLetterCommands.retry)
}
