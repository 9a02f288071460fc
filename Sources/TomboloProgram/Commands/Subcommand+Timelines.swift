// Rows of the command table: timelines of widgets.

extension Flag {
    static let subjectUser = Flag("user", .text("USER"), "show it on all devices of this user")
    static let subjectDevice = Flag("device", .text("DEVICE"), "show it on this device")
    static let subjectKey = Flag(
        "config", .text("ID"), "show it in widgets that are configured with this id, such as a door"
    )
    static let family = Flag(
        "family", .text("FAMILY"), "a family of WidgetKit, such as systemSmall")

    static let ofSubjects: [Flag] = [subjectUser, subjectDevice, subjectKey, app]
}

extension Argument {
    static let widgetKind = Argument(
        "KIND", .text("KIND"), "the widget's kind, as in the app")
}

extension Subcommand {
    static let timelinePut = Subcommand(
        path: ["timeline", "put"], summary: "Set what widgets of a kind show, and when it changes",
        arguments: [
            .widgetKind,
            Argument(
                "FILE", .file, optional: true,
                "content, schedule and so on as JSON; stdin if it is - or left out"),
        ], flags: Flag.ofSubjects + Flag.ofWriters,
        details: [
            "The file is the body of PUT /v1/timelines/KIND. --user, --device or --config sets its\n"
                + "subject. Widgets reload if their content has changed."
        ], examples: ["tombolo timeline put profile profile.json --user u42"],
        run: TimelineCommands.put)

    static let timelineList = Subcommand(
        path: ["timeline", "ls"],
        summary: "List timelines, and when the relay next asks their producer",
        arguments: [
            Argument("KIND", .text("KIND"), optional: true, "only widgets of this kind")
        ], flags: [.limit] + Flag.ofClients,
        examples: ["tombolo timeline ls", "tombolo timeline ls profile -o jsonl"],
        run: TimelineCommands.list)

    static let timelineShow = Subcommand(
        path: ["timeline", "show"], summary: "Show the entries that a widget receives",
        arguments: [.widgetKind], flags: [.family] + Flag.ofSubjects + Flag.ofClients,
        details: ["Give one of --user, --device and --config."],
        examples: ["tombolo timeline show profile --user u42 --family systemSmall"],
        run: TimelineCommands.show)

    static let timelineRemove = Subcommand(
        path: ["timeline", "rm"], summary: "Delete a timeline",
        arguments: [.widgetKind], flags: Flag.ofSubjects + Flag.ofWriters,
        details: ["Give one of --user, --device and --config."],
        examples: ["tombolo timeline rm profile --user u42"], run: TimelineCommands.remove)
}
