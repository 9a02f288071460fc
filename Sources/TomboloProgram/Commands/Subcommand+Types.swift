// Rows of the command table: types, lints, dead letters.

extension Flag {
    static let typeFile = Flag("type", .file, "the type's description, as for type put, in a file")
    static let swift = toggle("swift", "as Swift, the only language so far; required")
    static let ofDevice = Flag("device", .text("DEVICE"), "only this device's")
    static let reason = Flag(
        "reason", .text("REASON"), "only those refused with this word, such as BadDeviceToken")
    static let everything = toggle("all", "all of them")
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
        flags: [.typeFile, .app] + Flag.ofClients, details: ["With --type FILE no relay is asked."],
        examples: [
            "tombolo type check RunnerWidgetAttributes state.json",
            "tombolo type check RunnerWidgetAttributes state.json --type runner.json",
        ],
        exits: [.notFoundOrConflict, .unauthorized, .unreachable, .lint], run: TypeCommands.check)

    static let typeCodegen = Subcommand(
        path: ["type", "codegen"], summary: "Print a registered type as code for the app",
        arguments: [.typeName], flags: [.swift, .app, .relay, .key, .caFile],
        details: [
            "The code is a struct of ActivityAttributes with its ContentState. What is required and not\n"
                + "null is not optional. Texts and whole numbers that the schema lists are an enum. A date\n"
                + "is a Date where \"dates\" is swift-reference, else a Double (unix) or a String (iso8601).\n"
                + "A place without a single type is a JSONValue, which the code then has, too.",
            "The code has one attribute: the card's name, at \"id_at\". Add those that your starts have.",
        ],
        examples: [
            "tombolo type codegen RunnerWidgetAttributes --swift",
            "tombolo type codegen RunnerWidgetAttributes --swift > RunnerWidgetAttributes.swift",
        ], run: TypeCommands.codegen)

    static let lint = Subcommand(
        path: ["lint"], summary: "Find what would fail in silence: in a push, or in a start",
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
        path: ["doctor"], summary: "Find out what is wrong with the relay or its way to Apple",
        arguments: [Argument("FILE", .file, optional: true, "instead of --config")],
        flags: Flag.ofConfiguration + [.credentials, .askedRelay, .key, .caFile, .output],
        details: [
            "The relay that --relay names, or one at the configured address, is asked whether it takes\n"
                + "events. With a key of the tenant main with scope operate it tells of its disk, log, clock,\n"
                + "certificate, upstreams and authorities too. With --relay and no configuration only that\n"
                + "relay is asked.",
            "One push to a token that no phone has goes to the endpoint of each app: the answer tells\n"
                + "whether key, team, environment, topic and clock are right. No phone gets it.",
        ],
        examples: [
            "tombolo doctor --config /etc/tombolo/tombolo.json",
            "tombolo doctor --relay http://127.0.0.1:8780",
            "TOMBOLO_KEY_FILE=operator.key tombolo doctor --config tombolo.json",
        ], exits: [.unreachable, .lint], run: DoctorCommand.run)

    static let ready = Subcommand(
        path: ["ready"], summary: "Ask whether the relay takes events, or runs at all",
        arguments: [Argument("FILE", .file, optional: true, "instead of --config")],
        flags: Flag.ofConfiguration + [.live, .askedRelay, .caFile],
        details: [
            "For load balancers: without --live it fails while the relay takes no events.\n"
                + "For what restarts the relay: with --live it succeeds while the process answers, also while\n"
                + "the disk is full, the log is away or Apple is unwell. A restart would not help then."
        ],
        examples: [
            "tombolo ready --config /etc/tombolo/tombolo.json",
            "tombolo ready --live --relay http://127.0.0.1:8780",
        ], exits: [.unreachable], run: ReadyCommand.run)

    static let deadList = Subcommand(
        path: ["dead", "ls"], summary: "List pushes that Apple refused for good",
        flags: [.ofActivity, .ofDevice, .reason, .limit] + Flag.ofClients,
        examples: ["tombolo dead ls --reason BadTopic"], run: ReadCommands.deadList)

    static let deadRetry = Subcommand(
        path: ["dead", "retry"], summary: "Send the newest state where pushes were refused",
        arguments: [
            Argument("ID", .text("ID"), optional: true, "one of them; none with a filter or --all")
        ], flags: [.ofActivity, .ofDevice, .reason, .everything] + Flag.ofWriters,
        details: [
            "A letter whose card is gone stays: nothing is sent for it. Status 6 where some of the\n"
                + "letters stay, 3 where all of them do."
        ], examples: ["tombolo dead retry dead_7", "tombolo dead retry --reason TopicDisallowed"],
        exits: [.notFoundOrConflict, .unauthorized, .unreachable, .partly],
        run: DeadLetterCommands.retry)
}
