// Rows of the command table: commands of producers for one activity.

extension Flag {
    static let field = Flag(
        "set", short: "s", .pair, repeats: true,
        "a field of the content state; a value that is valid JSON is JSON, any other is a string")
    static let textField = Flag(
        "text", .pair, repeats: true,
        "a field of the content state; the value is a string, such as 1234567 or 1e10")
    static let stateFile = Flag(
        "state", .file, "a file with the content state, a JSON object; - is stdin")
    static let testCard = Flag.toggle(
        "card", "start a test card, and end it when the app has registered its token")
    static let trialWithin = Flag(
        "within", .duration, default: "2m", "wait up to this long in each step")
    static let trialWidget = Flag(
        "widget", .text("KIND"), "a kind of widget on the phone; a push reloads it")
    static let trialOut = Flag("out", .file, "write the result here, as JSON without tokens")
    static let type = Flag("type", .text("TYPE"), "the app's ActivityAttributes type")
    static let app = Flag("app", .text("BUNDLE"), "the app, if the relay serves several")
    static let device = Flag(
        "device", .text("DEVICE"), repeats: true, "a device that shows the activity")
    static let user = Flag("user", .text("USER"), "all devices of this user show the activity")
    static let onlyUser = Flag("user", .text("USER"), "only devices of this user")
    static let onlyApp = Flag("app", .text("BUNDLE"), "only devices of this app")
    static let onlySystem = Flag(
        "os", .text("VERSION"), "only devices whose system has this version, such as 26 or 26.1")
    static let silentFor = Flag(
        "silent-for", .duration, "only devices of which nothing was heard for so long, such as 1h")
    static let attributes = Flag(
        "attributes", .file, "a file with the activity's attributes, a JSON object")
    static let alertTitle = Flag("alert-title", .text("TEXT"), "alert the user, with this title")
    static let alertBody = Flag("alert-body", .text("TEXT"), "the alert's second line")
    static let relevance = Flag(
        "relevance", .text("NUMBER"),
        "the relevance score: which activity a device with several shows first")
    static let staleAfter = Flag(
        "stale-after", .duration, "after this time the phone shows the state as outdated")
    static let urgency = Flag(
        "urgency", .choice(["low", "normal", "high"]), "how much this change matters")
    static let wait = Flag(
        "wait", .duration, "wait up to this long for Apple's answers; status 6 if one is a refusal")
    static let idempotencyKey = Flag(
        "idempotency-key", .text("KEY"), "requests with the same key are stored once")
    static let ifMatch = Flag("if-match", .text("vN"), "only if the activity has this version")

    static let ifNew = toggle("if-new", "only if no activity has this id yet")
    static let restart = toggle("restart", "start the activity again if it has ended")
    static let replace = toggle("replace", "replace the whole state instead of changing it")
    static let dismiss = Flag(
        "dismiss", .text("WHEN"),
        "when the card leaves the Lock Screen: now, default, 'after 15m' or a time")
    static let status = Flag(
        "status", .choice(["waiting", "active", "ended", "damaged"]),
        "only activities with this status")
    static let asItWas = Flag(
        "at", .text("TIME|VERSION"),
        "show a past state: a version, a time (RFC 3339), or 14:02 (UTC)")
    static let onlyType = Flag("type", .text("TYPE"), "only activities of this type")

    static let ofChanges: [Flag] = [
        field, textField, stateFile, alertTitle, alertBody, relevance, staleAfter, urgency, wait,
        idempotencyKey,
    ]
}

extension Argument {
    static let activity = Argument("ID", .text("ID"), "the activity's id")
}

extension Subcommand {
    static let start = Subcommand(
        path: ["start"], summary: "Start an activity", arguments: [.activity],
        flags: [.type, .app, .device, .user, .channel, .startRoute, .attributes]
            + Flag.ofLives + Flag.ofChanges
            + [.ifNew, .restart] + Flag.ofWriters,
        details: [
            "Without -s, --text and --state the state is read from stdin, if stdin is a pipe "
                + "or a file."
        ],
        examples: [
            "tombolo start order-1 --type OrderAttributes --device phone-1 -s step=baking",
            "echo '{\"lap\":\"1/5\"}' | tombolo start cat-7 --type Any",
        ], exits: [.notFoundOrConflict, .unauthorized, .unreachable, .partly],
        run: ActivityCommands.start)

    static let update = Subcommand(
        path: ["update"], summary: "Change an activity's state", arguments: [.activity],
        flags: Flag.ofChanges
            + [.replace, .ifMatch] + Flag.ofWriters,
        details: [
            "The state is merged into the activity's state (RFC 7396): other fields do not change.\n"
                + "Without -s, --text and --state it is read from stdin, if stdin is a pipe or a file."
        ],
        examples: [
            "tombolo update cat-7 -s lap=2/5",
            "tombolo update build-9 --text commit=1234567",
            "tombolo update cat-7 -s lap=5/5 --alert-title 'Mike is home' --urgency high",
        ], exits: [.notFoundOrConflict, .unauthorized, .unreachable, .partly],
        run: ActivityCommands.update)

    static let end = Subcommand(
        path: ["end"], summary: "End an activity, or all activities of a type",
        arguments: [Argument("ID", .text("ID"), optional: true, "the activity; not with --type")],
        flags: [
            Flag("type", .text("TYPE"), "end every running activity of this type"),
            Flag("user", .text("USER"), "with --type: only those of this user"),
            .dismiss, .field, .textField, .stateFile, .alertTitle, .alertBody, .wait,
            .idempotencyKey, .ifMatch,
        ] + Flag.ofWriters,
        examples: [
            "tombolo end cat-7 -s lap=5/5 --dismiss 'after 15m'",
            "tombolo end --type RunnerWidgetAttributes",
        ], exits: [.notFoundOrConflict, .unauthorized, .unreachable, .partly],
        run: ActivityCommands.end)

    static let activityList = Subcommand(
        path: ["activity", "ls"], summary: "List activities",
        flags: [.status, .onlyType, .limit] + Flag.ofClients,
        examples: ["tombolo activity ls --status active -o jsonl"], run: ReadCommands.activityList)

    static let activityShow = Subcommand(
        path: ["activity", "show"], summary: "Show an activity: its state and its destinations",
        arguments: [.activity], flags: [.asItWas] + Flag.ofClients,
        details: [
            "With --at the state is rebuilt from the log, and each destination shows what Apple had\n"
                + "accepted at that time. The time of a version is when the relay stored it."
        ], examples: ["tombolo activity show cat-7", "tombolo activity show cat-7 --at 7"],
        run: ReadCommands.activityShow)

    static let activityDiff = Subcommand(
        path: ["activity", "diff"], summary: "Show what changed in the state between two versions",
        arguments: [
            .activity, Argument("A..B", .text("A..B"), "two versions, as in activity show"),
        ], flags: Flag.ofClients,
        details: [
            "Each change is a JSON Pointer into the state, with the values before and after."
        ],
        examples: ["tombolo activity diff cat-7 3..7", "tombolo activity diff cat-7 3..7 -o json"],
        run: DiffCommand.run)

    static let deviceList = Subcommand(
        path: ["device", "ls"], summary: "List the registered devices",
        flags: [.onlyUser, .onlyApp, .onlySystem, .silentFor, .limit] + Flag.ofClients,
        examples: ["tombolo device ls", "tombolo device ls --silent-for 1h --os 26"],
        run: ReadCommands.deviceList)

    static let deviceCheck = Subcommand(
        path: ["device", "check"], summary: "Show what a phone's app has sent, and what is missing",
        arguments: [Argument("DEVICE", .text("DEVICE"), "the device")],
        flags: [.testCard, .type, .field, .textField, .stateFile] + Flag.ofClients,
        details: [
            "Checks in this order: registration, user, start tokens, update tokens, reports, frequent\n"
                + "updates, tokens of widgets. For each that is missing it names the next step. What is not\n"
                + "needed yet does not count as missing.",
            "--card starts a card on the phone, waits for its update token and ends it. The key needs\n"
                + "the scope produce. --type is the card's type, -s and --text set its state.",
        ],
        examples: [
            "tombolo device check phone-1",
            "tombolo device check phone-1 --card --type OrderAttributes -s step=baking",
        ], exits: [.unauthorized, .unreachable], run: DeviceCheckCommand.run)

    static let deviceTrial = Subcommand(
        path: ["device", "trial"],
        summary: "Test a phone in twelve steps, and report what it showed",
        arguments: [Argument("DEVICE", .text("DEVICE"), "the device")],
        flags: [.type, .field, .textField, .stateFile, .trialWidget, .trialWithin, .trialOut]
            + Flag.ofClients,
        details: [
            "The steps: start token, start, Allow, update, alert, locked at 5, ten in a minute,\n"
                + "widget reload, swipe, relaunch, sign-out, end. stderr says what to do on the phone. Each\n"
                + "step waits until the app reports that the phone received what was sent.",
            "The updates change the first member of the state. Keep the phone at hand: it shows test\n"
                + "cards and alerts. A simulated phone needs no person, no type and no state.",
            "On a terminal the last line is a row for the table in Protocol/app.md. The key needs the\n"
                + "scopes produce, observe and operate.",
        ],
        examples: [
            "tombolo device trial phone-1",
            "tombolo device trial phone-9 --type OrderAttributes -s step=Baking --out trial.json",
        ], run: DeviceTrialCommand.run)

    static let deviceShow = Subcommand(
        path: ["device", "show"], summary: "Show a device",
        arguments: [Argument("DEVICE", .text("DEVICE"), "the device")], flags: Flag.ofClients,
        examples: ["tombolo device show phone-1"], run: ReadCommands.deviceShow)
}
