import TomboloSimulator

// Rows of the command table: the simulated phones of `tombolo dev`.

extension Flag {
    static let expectWithin = Flag(
        "within", .duration, default: "5s", "wait up to this long until the phone shows it")
    static let tapLink = Flag("link", .text("URL"), "the link that is tapped")
    static let tapIntent = Flag("intent", .text("NAME"), "the intent that a button runs")
    static let tapParameter = Flag(
        "parameter", short: "p", .pair, repeats: true,
        "a parameter of the intent; a value that is valid JSON is JSON, any other is a string")
    static let widgetConfig = Flag(
        "config", .text("ID"), "the id that the widget is configured with, such as a door")
    static let expectGone = toggle("gone", "wait until the phone has no card of the activity")
}

extension Subcommand {
    static let expect = Subcommand(
        path: ["expect"], summary: "Wait until a simulated phone shows a state",
        arguments: [.phone, .shownOne],
        flags: [
            .field, .textField, .stateFile, .expectWithin, .expectGone, .family, .widgetConfig,
        ] + Flag.ofClients,
        details: [
            "For tests of a backend against tombolo dev. It waits for the picture, not for the push:\n"
                + "a phone of class standard or frequent draws every 5 s. Only the given members are\n"
                + "compared. Status 1 if the phone does not show them in time; stderr says what it shows."
        ],
        examples: [
            "tombolo expect phone-3 order-1 -s step=baking --within 10s",
            "tombolo expect phone-3 order-1 --gone",
            "tombolo expect phone-1 widget:profile -s name=Ada --within 20s",
        ], run: ExpectCommand.run)

    static let phoneList = Subcommand(
        path: ["phone", "ls"], summary: "List the simulated phones and their cards",
        flags: Flag.ofClients,
        details: [
            "Only tombolo dev has simulated phones. BUDGET LEFT is the phone's own budget, which real\n"
                + "phones do not report. DRAWN counts pictures: a phone draws less often than it receives\n"
                + "pushes.",
            "On a pipe it is one JSON document.",
        ], examples: ["tombolo phone ls", "tombolo phone ls -o json"],
        exits: [.notFoundOrConflict, .unauthorized, .unreachable], run: PhoneCommands.list)

    static let phoneShow = Subcommand(
        path: ["phone", "show"], summary: "Show a simulated phone and what its cards show",
        arguments: [.phone], flags: Flag.ofClients, examples: ["tombolo phone show phone-1"],
        run: PhoneCommands.show)

    static let phoneWidget = Subcommand(
        path: ["phone", "widget"], summary: "Put widgets on a simulated phone, and look at them",
        arguments: [
            Argument(
                "DEED", .choice(WidgetCommands.Deed.allCases.map(\.rawValue)),
                "ls lists them; add and rm put one there and take it off; reload is the app's own,\n"
                    + "in front; gallery shows each family's snapshot"),
            .phone,
            Argument("KIND", .text("KIND"), optional: true, "the widget's kind"),
        ], flags: [.family, .widgetConfig] + Flag.ofWriters,
        details: [
            "A widget shows the timeline that PUT /v1/timelines/KIND has for the phone's user, or for\n"
                + "the id of --config. It fetches when it is added, after a push, and by its timeline's\n"
                + "policy. LEFT is how many fetches are left in 24 hours. Fetches while the app is in front\n"
                + "are free."
        ],
        examples: [
            "tombolo phone widget add phone-1 profile --family systemSmall",
            "tombolo phone widget ls phone-1",
            "tombolo phone widget gallery phone-1 profile",
        ], run: WidgetCommands.run)

    /// One row for each action of the user, the system or the app on a phone.
    static let phoneDeeds: [Subcommand] = [
        deed(.front, "Open the app on a simulated phone"),
        deed(.back, "Leave the app; it goes to the background"),
        deed(.switcher, "Open the app switcher; front goes back to the app"),
        deed(.controlCenter, "Pull the Control Center over the app"),
        deed(.touch, "Touch the glass of a simulated phone: it is in use", [.touchX, .touchY]),
        deed(.statusBar, "Let the app show or hide the status bar", [.onOff]),
        deed(.lock, "Lock a simulated phone; the app goes to the background"),
        deed(.unlock, "Unlock a simulated phone"),
        deed(.offline, "Take a simulated phone off the network"),
        deed(.online, "Bring a simulated phone back to the network"),
        deed(.terminate, "Close the app in the app switcher; no push starts an activity then"),
        deed(.launch, "Start the app in the background"),
        deed(.restart, "Switch a simulated phone off and on; its budgets stay"),
        deed(.reinstall, "Delete the app and install it again: other tokens, no card"),
        Subcommand(
            path: ["phone", "tap"], summary: "Tap a card, a link or a button of a simulated phone",
            arguments: [.phone, .tappedCard],
            flags: [.tapLink, .tapIntent, .tapParameter, .family, .widgetConfig]
                + Flag.ofWriters,
            details: [
                "A tap opens the app and is recorded as an action (tombolo tail --fact action). A button\n"
                    + "runs its intent without opening the app. A tap without an answer in 5 s is not sent, and\n"
                    + "never sent later."
            ],
            examples: [
                "tombolo phone tap phone-1 radial-1",
                "tombolo phone tap phone-1 widget:door --config door-7 --intent UnlockDoor",
                "tombolo phone tap phone-1 widget:profile",
            ]
        ) { try await PhoneCommands.tap($0) },
        deed(.swipe, "Swipe a card off the Lock Screen", [.phoneCard]),
        deed(
            .allow, "Tap \"Allow\": on a card, or to the question about frequent updates",
            [.anyCard]),
        deed(.deny, "Tap \"Don't Allow\"", [.anyCard]),
        deed(.listen, "Have the app begin a card that listens on a channel", [.heardChannel]),
        deed(.rotate, "Have the system give a card another update token", [.phoneCard]),
        deed(
            .lowPower, "Switch Low Power Mode on or off; no push starts an activity in it", [.onOff]
        ),
        deed(.watch, "Put a watch on or off; with one, a phone draws every 15 s", [.onOff]),
        deed(.trouble, "Let something go wrong without a word, or end it", [.troubleKind, .onOff]),
    ]

    private static let troubles =
        "  extension_frozen     the widget extension draws nothing more; the state is right\n"
        + "  loading_overlay      a spinner hides the picture until the app is opened\n"
        + "  stale_not_drawn      the stale date passes without a new picture\n"
        + "  start_token_silent   a push starts nothing until the app is opened\n"
        + "  start_stream_silent  the app learns no push-to-start token until it is opened\n"
        + "  low_power            Low Power Mode, as by phone low-power"

    private static let touches =
        "X and Y are points from the top left; the glass is 390 by 844. A touch that begins at the\n"
        + "edge of the Control Center arms for 0.5 s: an app that resigns within it reports that it is\n"
        + "covered. The edge is y of 759.6 and more, or with control_center top_right y of 84.4 and\n"
        + "less and x of 195 and more."

    private static let statusBar =
        "Without a status bar a touch at the edge arms for 2.75 s, and the Control Center needs two\n"
        + "pulls: the first one shows the handle."

    private static func deed(
        _ deed: PhoneDeed, _ summary: String, _ arguments: [Argument] = []
    ) -> Subcommand {
        let details = [PhoneDeed.trouble: [troubles], .touch: [touches], .statusBar: [statusBar]]
        let example = ["tombolo phone", deed.rawValue, "phone-1"] + arguments.map(\.example)
        return Subcommand(
            path: ["phone", deed.rawValue], summary: summary, arguments: [.phone] + arguments,
            flags: Flag.ofWriters, details: details[deed] ?? [],
            examples: [example.joined(separator: " ")]
        ) { try await PhoneCommands.act(deed, $0) }
    }
}

extension Argument {
    fileprivate static let phone = Argument("PHONE", .text("PHONE"), "the phone, such as phone-1")
    fileprivate static let phoneCard = Argument("ACTIVITY", .text("ACTIVITY"), "whose card")
    fileprivate static let shownOne = Argument(
        "ACTIVITY", .text("ACTIVITY"), "whose card, or widget:KIND")
    fileprivate static let tappedCard = Argument(
        "ACTIVITY", .text("ACTIVITY"), optional: true,
        "whose card, or widget:KIND; not needed with a link")
    fileprivate static let touchX = Argument(
        "X", .text("X"), optional: true, "points from the left, 0 to 390")
    fileprivate static let touchY = Argument(
        "Y", .text("Y"), optional: true, "points from the top, 0 to 844")
    fileprivate static let heardChannel = Argument(
        "CHANNEL", .text("CHANNEL"), "the channel, such as final")
    fileprivate static let anyCard = Argument(
        "ACTIVITY", .text("ACTIVITY"), optional: true,
        "whose card; the newest that waits, if left out")
    fileprivate static let onOff = Argument(
        "on|off", .choice(["on", "off"]), optional: true, "on or off; by default on")
    fileprivate static let troubleKind = Argument(
        "KIND", .choice(PhoneTrouble.Kind.allCases.map(\.rawValue)), "what goes wrong")

    /// An example value for help.
    fileprivate var example: String {
        switch self {
        case .phoneCard, .anyCard: "cat-7"
        case .heardChannel: "final"
        case .touchX: "195"
        case .touchY: "830"
        case .onOff: "on"
        default: PhoneTrouble.Kind.extensionFrozen.rawValue
        }
    }
}
