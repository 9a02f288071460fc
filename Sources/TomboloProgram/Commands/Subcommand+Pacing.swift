import TomboloCore

// Rows of the command table: operators' pauses, and budgets.

extension Flag {
    static let pausesAll = toggle("all", "pause all activities of the tenant")
    static let alertsOnly = toggle(
        "alerts-only", "send updates without their alerts; starts wait")
    static let pauseReason = Flag("reason", .text("TEXT"), "the reason, for other operators")
    static let replayGrant = Flag(
        "grant", .pair, repeats: true,
        "CLASS.FIELD=VALUE, as in budgets of the configuration")
    static let budgetClass = Flag(
        "class", .choice(BudgetClass.ofActivities.map(\.name)),
        "put all devices into this class")
    static let replaySpeed = Flag(
        "speed", .text("N"), default: "1",
        "10 replays the events ten times as fast")
    static let packPath = Flag(
        "path", .text("POINTER"), default: "/image", "the path of the frame in the state")
    static let packEvery = Flag(
        "every", .duration, default: "100ms", "how long each frame is shown")
    static let packFit = Flag(
        "fit", .choice(ClipPacking.Fit.allCases.map(\.rawValue)), default: "bundle",
        "bundle: all frames together must fit; step: each frame must fit")
    static let packLimit = Flag(
        "limit", .integer(64...4_096), default: "3400",
        "bytes for the frames; the rest of the 4096 is for the state")
    static let packColours = Flag(
        "colors", .integer(2...256), default: "256", "at most this many colours")
    static let ofReloads = [
        Flag("device", .text("DEVICE"), repeats: true, "a device whose widgets should reload"),
        Flag("user", .text("USER"), "all devices of this user"),
        Flag("app", .text("BUNDLE"), "only devices of this app"),
    ]
    static let onlyDevice = Flag("device", .text("DEVICE"), "only this device")
    static let onlyChannel = Flag("channel", .text("CHANNEL"), "only this channel")
    static let whyToken = Flag(
        "token", .text("-"), "read a token from stdin: the newest delivery to its device")
    static let whyPush = Flag("apns-id", .text("UUID"), "the push with this apns-id")
    static let ofUser = Flag("user", .text("USER"), "only devices of this user")
    static let onlyVersion = Flag(
        "version", .integer(1...Int.max), "only what sent or decided this version")
    static let onlyResult = Flag(
        "result",
        .choice([
            "accepted", "rejected", "not_sent", "unknown", "sent", "merged", "skipped", "expired",
            "refused",
        ]), "only deliveries with this result")
}

extension Argument {
    static let clip = Argument("FILE", .file, "the clip, a JSON object; - is stdin")
    static let delivery = Argument("ID", .text("ID"), "the delivery, as in delivery ls")
}

extension Subcommand {
    static let pause = Subcommand(
        path: ["pause"], summary: "Pause pushes, or list the pauses",
        flags: [
            .pausesAll, .app,
            Flag("type", .text("TYPE"), "all activities of this type"), .ofActivity, .alertsOnly,
            .pauseReason,
        ] + Flag.ofWriters,
        details: [
            "Give one of --all, --app, --type and --activity. Without them the command lists the\n"
                + "pauses. During a pause the relay still accepts events; afterwards it sends only the\n"
                + "newest states."
        ],
        examples: [
            "tombolo pause --type RunnerWidgetAttributes --reason 'a release is going on'",
            "tombolo pause --all --alerts-only",
        ], run: PacingCommands.pause)

    static let resume = Subcommand(
        path: ["resume"], summary: "Release a pause; only the newest states are sent",
        arguments: [
            Argument("PAUSE", .text("PAUSE"), optional: true, "the pause; not with --all")
        ],
        flags: [Flag.toggle("all", "all pauses of the tenant, including those of other keys")]
            + Flag.ofWriters,
        examples: ["tombolo resume pause_1", "tombolo resume --all"], run: PacingCommands.resume)

    static let deliveryList = Subcommand(
        path: ["delivery", "ls"], summary: "List pushes and their results, newest first",
        flags: [
            .ofActivity, .onlyDevice, .onlyChannel, .ofUser, .onlyVersion, .onlyResult, .reason,
            .from, .until,
            Flag("limit", .integer(1...1_000_000), default: "100", "at most this many rows"),
        ] + Flag.ofClients,
        examples: [
            "tombolo delivery ls --activity cat-7",
            "tombolo delivery ls --device phone-1 --result rejected",
        ], exits: [.notFoundOrConflict, .unauthorized, .unreachable],
        run: PacingCommands.deliveryList)

    static let deliveryShow = Subcommand(
        path: ["delivery", "show"], summary: "Show a delivery", arguments: [.delivery],
        flags: Flag.ofClients,
        examples: ["tombolo delivery show dlv_12"], run: PacingCommands.deliveryShow)

    static let deliveryRetry = Subcommand(
        path: ["delivery", "retry"], summary: "Send again what Apple refused in a delivery",
        arguments: [.delivery], flags: Flag.ofWriters,
        details: [
            "Sends the newest state, as dead retry does. Status 3 if Apple did not refuse the\n"
                + "delivery, if it was already retried, or if its card is gone."
        ], examples: ["tombolo delivery retry dlv_12"], run: DeadLetterCommands.retryDelivery)

    static let upstreamRetry = Subcommand(
        path: ["upstream", "retry"], summary: "Try at once to push while an app's pushes wait",
        arguments: [Argument("APP", .text("BUNDLE"), "the app's bundle id")],
        flags: [.initEnvironment] + Flag.ofWriters,
        details: [
            "The relay tries by itself after a second, and then ever later, up to 15 minutes. Use the\n"
                + "command when the cause is gone. Where no connection opens, the try waits for the\n"
                + "next one: a minute at most. If the try fails, the pushes wait again."
        ], examples: ["tombolo upstream retry com.example.app"],
        exits: [.notFoundOrConflict, .unauthorized, .unreachable], run: PacingCommands.retryUpstream
    )

    static let why = Subcommand(
        path: ["why"], summary: "Explain why a phone does not show a version",
        arguments: [
            Argument("ACTIVITY", .text("ACTIVITY"), optional: true, "the activity, or widget:KIND"),
            Argument("DEVICE", .text("DEVICE"), optional: true, "the phone; by default all"),
            Argument(
                "VERSION|TIME", .text("VERSION|TIME"), optional: true,
                "a version, a time (RFC 3339), or 14:02 (UTC); by default the newest version"),
        ], flags: [.whyToken, .whyPush, .ofUser, .widgetConfig] + Flag.ofClients,
        details: [
            "The answer comes from the log: what the producer sent, what happened to it, what is\n"
                + "known about the phone, and which causes are possible. It is the same after a restart.",
            "widget:KIND needs the DEVICE. The relay knows which families have fetched since "
                + "it started.",
            "Each line begins with its code in brackets, for use by programs (-o json).",
        ],
        examples: [
            "tombolo why cat-7", "tombolo why widget:profile phone-1",
            "tombolo why cat-7 phone-1 7", "tombolo why cat-7 phone-1 14:02",
            "tombolo why --user u42", "tombolo why --token - <token.txt",
        ], run: WhyCommand.run)

    static let budgetShow = Subcommand(
        path: ["budget", "show"], summary: "Show how much of the budgets is left",
        flags: [.ofActivity, .onlyDevice, .limit] + Flag.ofClients,
        examples: ["tombolo budget show --device phone-1"],
        exits: [.unauthorized, .unreachable], run: PacingCommands.budgetShow)

    static let budgetSimulate = Subcommand(
        path: ["budget", "simulate"], summary: "Replay a log with other grants, and compare",
        flags: [
            .data, .database, .configuration, .ofActivity,
            .replayGrant, .budgetClass, .replaySpeed, .output,
        ],
        details: [
            "The relay's core replays the log's events on virtual time: once with the configured\n"
                + "grants, once with yours. The replayed phones allow each activity, answer at once, and\n"
                + "never have the app in front. Apple refuses nothing. A relay may use the log meanwhile.",
            "Lag is the time from an event until a phone had its state, or a newer state.",
        ],
        examples: [
            "tombolo budget simulate --data /var/lib/tombolo --grant standard.per_hour=30",
            "tombolo budget simulate --data /var/lib/tombolo --activity cat-7 --class frequent",
        ], exits: [.notFoundOrConflict], run: BudgetSimulateCommand.run)

    static let clipPlan = Subcommand(
        path: ["clip", "plan"], summary: "Show what a clip would cost, without playing it",
        arguments: [.activity, .clip], flags: Flag.ofClients,
        examples: ["tombolo clip plan cat-7 clip.json"], run: ClipCommands.plan)

    static let clipPack = Subcommand(
        path: ["clip", "pack"], summary: "Make a clip from PNG files that fits into a push",
        arguments: [Argument("PNG", .file, repeats: true, "the frames, in order")],
        flags: [.packPath, .packEvery, .packFit, .packLimit, .packColours],
        details: [
            "It uses the palette and size that fit and keep most of the pictures; stderr names them.\n"
                + "stdout is the clip for clip play."
        ], examples: ["tombolo clip pack cat-*.png | tombolo clip play cat-7 -"],
        exits: [.notFoundOrConflict], run: ClipCommands.pack)

    static let clipPlay = Subcommand(
        path: ["clip", "play"], summary: "Play a clip: a flip-book or a tween",
        arguments: [.activity, .clip], flags: Flag.ofWriters,
        details: [
            "The answer is the plan: frames asked for, frames granted, and the cost of each."
        ],
        examples: [
            "echo '{\"tween\":{\"path\":\"/angle\",\"to\":180}}' | tombolo clip play door -"
        ], run: ClipCommands.play)

    static let clipStop = Subcommand(
        path: ["clip", "stop"], summary: "Stop the clip that plays; its last frame stays",
        arguments: [
            .activity,
            Argument(
                "PATH", .text("PATH"), optional: true,
                "the path in the state where it plays; by default any"),
        ], flags: Flag.ofWriters, details: ["Status 3 if no clip plays there."],
        examples: ["tombolo clip stop cat-7", "tombolo clip stop cat-7 /image"],
        run: ClipCommands.stop)

    static let timelineReload = Subcommand(
        path: ["timeline", "reload"], summary: "Reload widgets: they fetch their timelines again",
        arguments: [.widgetKind], flags: Flag.ofReloads + Flag.ofWriters,
        details: [
            "Give --device (once or more) or --user. Widgets have one token for all kinds of an app:\n"
                + "each of them on the phone asks. " + reloadDetails
        ], examples: ["tombolo timeline reload profile --user u42"],
        exits: [.notFoundOrConflict, .unauthorized, .unreachable, .partly]
    ) { try await SurfaceReloadCommands.reload($0, "timelines") }

    static let controlReload = Subcommand(
        path: ["control", "reload"], summary: "Reload a control: it fetches its value again",
        arguments: [Argument("KIND", .text("KIND"), "the control's kind, as in the app")],
        flags: Flag.ofReloads + Flag.ofWriters,
        details: ["Give --device (once or more) or --user. " + reloadDetails],
        examples: ["tombolo control reload lock --device phone-1 --device phone-2"],
        exits: [.notFoundOrConflict, .unauthorized, .unreachable, .partly]
    ) { try await SurfaceReloadCommands.reload($0, "controls") }

    private static let reloadDetails =
        "Reloads have budgets of\ntheir own, and many in a row are one push. Status 6 where some "
        + "phones have no token for\nit, 3 where all of them have none."
}
