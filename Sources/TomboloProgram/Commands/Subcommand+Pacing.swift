import TomboloCore

// Rows of the command table: operators' pauses, and budgets.

extension Flag {
    static let pausesAll = toggle("all", "everything of the tenant")
    static let alertsOnly = toggle(
        "alerts-only", "updates go without their alerts, and starts wait")
    static let pauseReason = Flag("reason", .text("TEXT"), "why, for other operators")
    static let replayGrant = Flag(
        "grant", .pair, repeats: true,
        "CLASS.FIELD=VALUE, as under budgets in the configuration")
    static let budgetClass = Flag(
        "class", .choice(BudgetClass.ofActivities.map(\.name)),
        "every device in this class, whatever it was")
    static let replaySpeed = Flag(
        "speed", .text("N"), default: "1",
        "10 lets the events come ten times as fast as they did")
    static let packPath = Flag(
        "path", .text("POINTER"), default: "/image", "the place of the frame in the state")
    static let packEvery = Flag(
        "every", .duration, default: "100ms", "how long each frame is shown")
    static let packFit = Flag(
        "fit", .choice(ClipPacking.Fit.allCases.map(\.rawValue)), default: "bundle",
        "bundle: all frames together are to fit; step: each of them")
    static let packLimit = Flag(
        "limit", .integer(64...4_096), default: "3400",
        "bytes that the frames may take; the rest of the 4096 is the state's")
    static let packColours = Flag(
        "colors", .integer(2...256), default: "256", "no more colours than these")
    static let ofReloads = [
        Flag("device", .text("DEVICE"), repeats: true, "a device that is to ask"),
        Flag("user", .text("USER"), "all devices of this user are to ask"),
        Flag("app", .text("BUNDLE"), "only devices of this app"),
    ]
    static let onlyDevice = Flag("device", .text("DEVICE"), "only this device's")
    static let onlyChannel = Flag("channel", .text("CHANNEL"), "only this channel's")
    static let whyToken = Flag(
        "token", .text("-"), "the newest delivery to the device with the token on stdin")
    static let whyPush = Flag("apns-id", .text("UUID"), "the push with this apns-id")
    static let ofUser = Flag("user", .text("USER"), "only this user's devices")
    static let onlyVersion = Flag(
        "version", .integer(1...Int.max), "only what carried or decided this version")
    static let onlyResult = Flag(
        "result",
        .choice([
            "accepted", "rejected", "not_sent", "unknown", "sent", "merged", "skipped", "expired",
            "refused",
        ]), "only what came to this")
}

extension Argument {
    static let clip = Argument("FILE", .file, "the clip, a JSON object; - is stdin")
    static let delivery = Argument("ID", .text("ID"), "the delivery, as delivery ls names it")
}

extension Subcommand {
    static let pause = Subcommand(
        path: ["pause"], summary: "Hold pushes back, or list what is held",
        flags: [
            .pausesAll, .app,
            Flag("type", .text("TYPE"), "every activity of this type"), .ofActivity, .alertsOnly,
            .pauseReason,
        ] + Flag.ofWriters,
        details: [
            "Give one of --all, --app, --type and --activity; with none, pauses in force are listed.\n"
                + "Events are still taken meanwhile; afterwards only the newest states go."
        ],
        examples: [
            "tombolo pause --type RunnerWidgetAttributes --reason 'a release is going on'",
            "tombolo pause --all --alerts-only",
        ], run: PacingCommands.pause)

    static let resume = Subcommand(
        path: ["resume"], summary: "Release what a pause holds back; only the newest states go",
        arguments: [
            Argument("PAUSE", .text("PAUSE"), optional: true, "the pause; none with --all")
        ],
        flags: [Flag.toggle("all", "every pause of the tenant, also those of other keys")]
            + Flag.ofWriters,
        examples: ["tombolo resume pause_1", "tombolo resume --all"], run: PacingCommands.resume)

    static let deliveryList = Subcommand(
        path: ["delivery", "ls"], summary: "List pushes and what became of them, newest first",
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
            "The newest state goes, as with dead retry. Status 3 where Apple did not refuse the\n"
                + "delivery, where it was retried before, and where its card is gone."
        ], examples: ["tombolo delivery retry dlv_12"], run: DeadLetterCommands.retryDelivery)

    static let why = Subcommand(
        path: ["why"], summary: "Say why a phone does not show a version",
        arguments: [
            Argument("ACTIVITY", .text("ACTIVITY"), optional: true, "the activity, or widget:KIND"),
            Argument("DEVICE", .text("DEVICE"), optional: true, "the phone; all where left out"),
            Argument(
                "VERSION|TIME", .text("VERSION|TIME"), optional: true,
                "a version, a time (RFC 3339), or 14:02 (by UTC); the newest where left out"),
        ], flags: [.whyToken, .whyPush, .ofUser, .widgetConfig] + Flag.ofClients,
        details: [
            "The answer comes from the log: what was said, what became of it at the phone, what\n"
                + "is known of the phone, and which causes fit. It is the same after a restart.",
            "widget:KIND needs the DEVICE. Which families have fetched is known since the relay's start.",
            "Each line begins with its code in brackets, which programs go by (-o json).",
        ],
        examples: [
            "tombolo why cat-7", "tombolo why widget:profile phone-1",
            "tombolo why cat-7 phone-1 7", "tombolo why cat-7 phone-1 14:02",
            "tombolo why --user u42", "tombolo why --token - <token.txt",
        ], run: WhyCommand.run)

    static let budgetShow = Subcommand(
        path: ["budget", "show"], summary: "Show what is left of the budgets",
        flags: [.ofActivity, .onlyDevice, .limit] + Flag.ofClients,
        examples: ["tombolo budget show --device phone-1"],
        exits: [.unauthorized, .unreachable], run: PacingCommands.budgetShow)

    static let budgetSimulate = Subcommand(
        path: ["budget", "simulate"], summary: "Replay a log under other grants, and compare",
        flags: [
            .data, .database, .configuration, .ofActivity,
            .replayGrant, .budgetClass, .replaySpeed, .output,
        ],
        details: [
            "The log's events go through the relay's own core on virtual time: once under the\n"
                + "configured grants, once under yours. Phones allow every activity, answer at once\n"
                + "and are never in front; what Apple refused then is not refused again. A relay\n"
                + "may run on the log meanwhile.",
            "Lag is the time from an event's record until a phone had its state, or a newer one.",
        ],
        examples: [
            "tombolo budget simulate --data /var/lib/tombolo --grant standard.per_hour=30",
            "tombolo budget simulate --data /var/lib/tombolo --activity cat-7 --class frequent",
        ], exits: [.notFoundOrConflict], run: BudgetSimulateCommand.run)

    static let clipPlan = Subcommand(
        path: ["clip", "plan"], summary: "Say what a clip would cost and show, without playing it",
        arguments: [.activity, .clip], flags: Flag.ofClients,
        examples: ["tombolo clip plan cat-7 clip.json"], run: ClipCommands.plan)

    static let clipPack = Subcommand(
        path: ["clip", "pack"], summary: "Make a clip of PNGs, small enough for a push",
        arguments: [Argument("PNG", .file, repeats: true, "the frames, in order")],
        flags: [.packPath, .packEvery, .packFit, .packLimit, .packColours],
        details: [
            "Of all palettes and sizes that fit, the one that keeps most of the pictures is taken;\n"
                + "stderr tells which. stdout is the clip, as clip play takes it."
        ], examples: ["tombolo clip pack cat-*.png | tombolo clip play cat-7 -"],
        exits: [.notFoundOrConflict], run: ClipCommands.pack)

    static let clipPlay = Subcommand(
        path: ["clip", "play"], summary: "Play a clip: a flip-book or a tween",
        arguments: [.activity, .clip], flags: Flag.ofWriters,
        details: ["The answer tells the plan: frames asked for, granted, and what each costs."],
        examples: [
            "echo '{\"tween\":{\"path\":\"/angle\",\"to\":180}}' | tombolo clip play door -"
        ], run: ClipCommands.play)

    static let clipStop = Subcommand(
        path: ["clip", "stop"], summary: "Stop the clip that plays; its last frame stays",
        arguments: [
            .activity,
            Argument(
                "PATH", .text("PATH"), optional: true,
                "the place in the state where it plays; wherever it is, where left out"),
        ], flags: Flag.ofWriters, details: ["Status 3 where no clip plays there."],
        examples: ["tombolo clip stop cat-7", "tombolo clip stop cat-7 /image"],
        run: ClipCommands.stop)

    static let timelineReload = Subcommand(
        path: ["timeline", "reload"], summary: "Have widgets ask for their timelines anew",
        arguments: [.widgetKind], flags: Flag.ofReloads + Flag.ofWriters,
        details: [
            "Give --device (once or more) or --user. Widgets have one token for all kinds of an app:\n"
                + "each of them on the phone asks. " + reloadDetails
        ], examples: ["tombolo timeline reload profile --user u42"],
        exits: [.notFoundOrConflict, .unauthorized, .unreachable, .partly]
    ) { try await SurfaceReloadCommands.reload($0, "timelines") }

    static let controlReload = Subcommand(
        path: ["control", "reload"], summary: "Have a control ask for its value anew",
        arguments: [Argument("KIND", .text("KIND"), "the control's kind, as the app names it")],
        flags: Flag.ofReloads + Flag.ofWriters,
        details: ["Give --device (once or more) or --user. " + reloadDetails],
        examples: ["tombolo control reload lock --device phone-1 --device phone-2"],
        exits: [.notFoundOrConflict, .unauthorized, .unreachable, .partly]
    ) { try await SurfaceReloadCommands.reload($0, "controls") }

    private static let reloadDetails =
        "Reloads have budgets of\ntheir own, and many in a row are one push. Status 6 where some "
        + "phones have no token for\nit, 3 where all of them have none."
}
