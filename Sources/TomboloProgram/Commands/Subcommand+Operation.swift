// Rows of the command table: running the relay and setting it up.

extension Flag {
    static let phones = Flag("phones", .integer(0...100), default: "3", "how many phones")
    static let tlsCertificate = Flag(
        "tls-certificate", .file, environment: "TOMBOLO_TLS_CERTIFICATE",
        "the listener's certificate chain (PEM)")
    static let tlsKey = Flag(
        "tls-key", .file, environment: "TOMBOLO_TLS_KEY", "the certificate's private key (PEM)")

    static let scenarioTime = Flag("for", .duration, default: "30s", "runner: how long it runs")
    static let scenarioSteps = toggle(
        "steps",
        "runner: play its steps; profile and door: play on virtual time, without a relay"
    )
    static let stay = toggle(
        "stay", "afterwards keep a card or the widgets and answer taps, until Ctrl-C")
    static let scenario = Flag(
        "scenario", .choice(Scenario.ofCards + Scenario.ofWidgets),
        "a scenario whose producer runs from the start and answers taps")
    static let connect = toggle(
        "connect", "also try the database: its server, schema, pepper and this role's rights")
    static let origin = toggle("origin", "show where each value comes from")
    static let scope = Flag(
        "scope", .text("SCOPES"),
        "produce, observe, operate, device:ID, with commas between; all: the first three")
    static let tenant = Flag("tenant", .text("TENANT"), default: "main", "the tenant of the key")
    static let boundUser = Flag(
        "user", .text("USER"),
        "with scope device:ID: the user for whom the key registers the device")
    static let boundApp = Flag(
        "app", .text("BUNDLE"),
        "with scope device:ID: the app for which the key registers the device")

    static let simulatorAddress = Flag(
        "simulator", .address, default: "127.0.0.1:8443",
        "where the simulator of Apple's service listens")
    static let devData = Flag(
        "data", .directory, "the relay's data directory; by default a new temporary one")
    static let consoleDirectory = Flag(
        "console-dir", .directory, "serve the console's files from here, to work on them")
    static let log = Flag(
        "log", .choice(OperatorLogFormat.allCases.map(\.rawValue)), environment: "TOMBOLO_LOG",
        "the format of stderr: text (the default), or a JSON object per line")
    static let noInput = toggle("no-input", "do not read keys from the terminal")

    static let simulatorListen = Flag(
        "listen", .address, default: "127.0.0.1:8443", "where it listens")
    static let keyFile = Flag(
        "key-file", .file, repeats: true, "the .p8 whose provider tokens it accepts")
    static let keyID = Flag(
        "key-id", .text("ID"), repeats: true, "the id of that key; one for each --key-file")
    static let teamID = Flag("team-id", .text("ID"), "the team of that key")
    static let topic = Flag("topic", .text("BUNDLE"), repeats: true, "an app it knows")
    static let phoneType = Flag(
        "type", .text("NAME[=FILE]"), repeats: true,
        "another ActivityAttributes type of the phones' app; FILE as in `type put`")
    static let caOut = Flag("ca-out", .file, "where to write its certificate authority")
    static let simulatorData = Flag(
        "data", .directory,
        "where it stores the phones' tokens and cards, so that they survive a restart")
    static let acceptAnyToken = toggle(
        "accept-any-token", "accept each well-formed device token, and never answer 429")
    static let phonesRelay = Flag(
        "relay", .origin, environment: "TOMBOLO_RELAY", "the relay its phones register with")
    static let askedRelay = Flag(
        "relay", .origin, environment: "TOMBOLO_RELAY",
        "the relay to ask, instead of the configured one")
    static let environment = Flag(
        "environment", .choice(["sandbox", "production"]), default: "sandbox",
        "which of Apple's two environments it simulates")
    static let phoneSetting = Flag(
        "phone", .pair, repeats: true,
        "a setting of a simulated phone, such as phone-3.os=17.4 or all.watch=on")
    static let pad = toggle("pad", "also simulate an iPad, pad-1: it has widgets, but no cards")
    static let startBudget = Flag(
        "start-budget", .integer(1...1_000_000),
        "how many starts a phone allows at once, and in an hour")
    static let faults = Flag("faults", .file, "a script of faults, as JSON")
    static let control = Flag(
        "control", .address, "where it accepts faults and shows its phones while it runs")
    static let takeover = toggle(
        "takeover", "replace the phones of a relay that has its own")
    static let endWithInput = toggle(
        "end-with-input", "stop when stdin ends, so that it ends with its parent process")

    static let credentials = Flag(
        "credentials", .directory,
        "where the service's credentials are before its first start, such as /etc/tombolo/keys")

    /// The flags that replace values of the configuration file.
    static let ofConfiguration: [Flag] = [
        configuration, data,
        Flag("listen", .address, environment: "TOMBOLO_LISTEN", listen.summary),
        tlsCertificate, tlsKey, log,
    ]
}

extension Subcommand {
    /// Help for the values of `--phone`.
    private static let phoneSettings =
        "--phone PHONE.SETTING=VALUE sets, for phone-1 and so on or for all:\n"
        + "  app         contract (does all that an app has to do), or careless: it misses the cards\n"
        + "              that pushes start until it is opened, and drops uploads when suspended\n"
        + "  os          a version; phones before 18 have no channels, and draw every state\n"
        + "  class       standard, frequent or lab; user; frequent-updates and watch (on or off)\n"
        + "  allow       when the user taps \"Allow\": at-once, never or a duration\n"
        + "  budget      windows (as people saw it) or bucket\n"
        + "  starts      how many pushes may start an activity in starts-window (1h); 1000 in dev\n"
        + "  time-zone, reloads (of widgets, at once and an hour), fetches (of a widget a day),\n"
        + "  fetch-spacing (of a widget, by its policy)\n"
        + "  draws-every, holds-low-priority (while locked: on or off), groups-low-priority,\n"
        + "  reorders (one push in so many)\n"
        + "  trouble     as in tombolo help phone trouble; no-update-token (0 to 1), start-jitter,\n"
        + "              token-dies-after, dead-token-grace"

    static let dev = Subcommand(
        path: ["dev"],
        summary: "Run a relay, a simulator of Apple and three phones, to try things out",
        flags: [
            .devData, .database, .listen, .simulatorAddress, .phones, .phoneSetting, .phoneType,
            .scenario, .consoleDirectory, .log, .noInput,
        ],
        details: [
            "phone-1 has the budget class lab, phone-2 frequent, phone-3 standard. Their app has the\n"
                + "types of the scenarios, and OrderAttributes, whose state may have any members: its\n"
                + "preview draws step, minutes and progress (0 to 1). On a terminal the command draws the\n"
                + "three islands, and keys choose a phone and touch it, as tombolo phone does. Elsewhere\n"
                + "each line is a JSON object. The first is\n"
                + "{\"ready\":true,\"api\",\"key\",\"simulator\",\"console\",\"ca\"}.",
            phoneSettings,
        ],
        examples: [
            "tombolo dev", "tombolo dev --scenario door", "tombolo dev --type DeliveryAttributes",
            "tombolo dev --phone phone-3.os=17.4 --phone phone-3.allow=20s --phone all.user=u42",
            "tombolo dev --listen 127.0.0.1:0 --simulator 127.0.0.1:0 </dev/null",
        ], run: DevCommand.run)

    static let serve = Subcommand(
        path: ["serve"], summary: "Run the relay",
        flags: Flag.ofConfiguration + [.consoleDirectory],
        details: [
            "On SIGTERM it finishes what it accepted, then stops. stderr gets a line when it starts\n"
                + "and stops, for each change of its health, and for each request that it refuses.",
            "Where another relay owns the log in a database it listens, answers 503 and waits, until it\n"
                + "can take the log over. `/readyz` says for whom it waits.",
            "Status 3: the log cannot be opened, or another relay uses the data directory. Status 1:\n"
                + "the relay could not go on, or another one has taken its log in a database. Start it\n"
                + "again then, as systemd does: it recovers what it acknowledged.",
        ],
        examples: [
            "tombolo serve --config /etc/tombolo/tombolo.json",
            "tombolo serve --config tombolo.json --log json 2>>relay.log",
        ], exits: [.notFoundOrConflict], makesFiles: true, run: ServeCommand.run)

    static let sim = Subcommand(
        path: ["sim"], summary: "Run a strict simulator of Apple's push service and its phones",
        flags: [
            .simulatorListen, .keyFile, .keyID, .teamID, .topic, .caOut, .simulatorData, .phones,
            .phoneSetting, .pad, .phoneType, .startBudget, .environment, .acceptAnyToken,
            .phonesRelay, .takeover,
            .key, .faults, .control, .endWithInput,
        ],
        details: [
            "A fault script is {\"rules\":[…]}; of several rules the first that is open takes a push:\n"
                + "  for which   to: device (default), broadcast, channels or any; token (prefix),\n"
                + "              push_type, priority, share (0 to 1), times\n"
                + "  when        from, for, every: \"30s\", counted from when the rule was given\n"
                + "  how         status and reason (gone_for with 410) | no_answer | reset | abort;\n"
                + "              delay, go_away (reason), max_streams; delivered: true lets the phone\n"
                + "              have the push all the same",
            "The control port accepts scripts while it runs (GET, PUT, POST, DELETE /v1/faults) and\n"
                + "shows /v1/counts, /v1/phones and what each phone ignored: /v1/phones/NAME/ignored.",
            phoneSettings,
        ],
        examples: [
            "tombolo sim --accept-any-token --ca-out ca.pem --topic com.example.app",
            "tombolo sim --faults storm.json --control 127.0.0.1:8444 --topic com.example.app",
        ], run: SimCommand.run)

    static let trigger = Subcommand(
        path: ["trigger"], summary: "Run a scenario and wait until all phones show its result",
        arguments: [
            Argument(
                "NAME", .choice(Scenario.ofCards + Scenario.ofWidgets),
                "the scenario: runner is a cat in the island, radial three avatars that taps turn,\n"
                    + "window corners that follow where the app is, profile a widget, door a widget of every family"
            )
        ],
        flags: [.scenarioTime, .scenarioSteps, .phones, .stay] + Flag.ofClients,
        details: [
            "The file Protocol/examples/NAME/steps.json describes the scenario; runner uses it only\n"
                + "with --steps. With --stay a card or the widgets stay afterwards, and the producer\n"
                + "answers taps."
        ],
        examples: [
            "tombolo trigger runner --for 10s -o json", "tombolo trigger radial --phones 1",
            "tombolo trigger door --stay",
        ], exits: [.unauthorized, .unreachable], run: TriggerCommand.run)

    static let configCheck = Subcommand(
        path: ["config", "check"], summary: "Check the configuration and the files it names",
        arguments: [Argument("FILE", .file, optional: true, "instead of --config")],
        flags: Flag.ofConfiguration + [.credentials, .connect],
        details: [
            "Makes the same checks as serve, but starts nothing. Status 7: a relay would start, but\n"
                + "stderr says what needs attention, such as a certificate that expires soon.",
            "With --connect each check of the database is a line. A relay may run on it meanwhile.\n"
                + "Status 6: something is missing in the database; 1: it cannot be used at all.",
        ],
        examples: [
            "tombolo config check /etc/tombolo/tombolo.json",
            "tombolo config check --connect --config tombolo.json",
        ], exits: [.partly, .lint], run: ConfigurationCommands.check)

    static let configShow = Subcommand(
        path: ["config", "show"], summary: "Print the configuration as the relay would use it",
        arguments: [Argument("FILE", .file, optional: true, "instead of --config")],
        flags: Flag.ofConfiguration
            + [.origin, .output],
        examples: ["tombolo config show --origin --config tombolo.json"],
        run: ConfigurationCommands.show)

    static let configDoc = Subcommand(
        path: ["config", "doc"], summary: "Print the reference of all configuration keys",
        flags: [.output],
        details: [
            "The output is Markdown: each key, its values, its default, and whether SIGHUP "
                + "applies it."
        ],
        examples: ["tombolo config doc"], run: ConfigurationCommands.document)

    static let completion = Subcommand(
        path: ["completion"], summary: "Print the completions for a shell",
        arguments: [Argument("SHELL", .choice(["bash", "zsh"]), "bash or zsh")],
        examples: [
            "source <(tombolo completion bash)",
            "tombolo completion zsh >\"${fpath[1]}/_tombolo\"",
        ], run: CompletionCommand.run)
}
