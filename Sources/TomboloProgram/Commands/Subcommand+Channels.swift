// Rows of the command table: broadcast channels.

extension Flag {
    static let ofEnvironment = Flag(
        "environment", .choice(["production", "sandbox"]),
        "only if the app is configured for both environments")
    static let storage = Flag(
        "storage", .choice(["none", "most_recent"]),
        "what Apple stores for phones that are offline; it cannot be changed later")
}

extension Flag {
    static let channel = Flag(
        "channel", .text("NAME"),
        "start on this broadcast channel: each card that subscribes to it shows the "
            + "activity")
    static let startRoute = Flag(
        "start", .choice(["push", "adopt", "channel", "auto"]),
        "how the card starts: by push, by the app itself, or with its own channel")
    static let renew = Flag(
        "renew", .choice(["never", "always"]),
        "whether the relay starts a new card before 8 hours are over")
    static let onTokenGone = Flag(
        "on-token-gone", .choice(["stop", "restart"]),
        "what the relay does when an update token is no longer valid")
    static let onUnknownStart = Flag(
        "on-unknown-start", .choice(["give_up", "resend"]),
        "what the relay does when the outcome of a start is unknown")

    static let startWait = Flag(
        "start-wait", .duration, "how long the start may wait for a device (15m)")

    static let endAfter = Flag(
        "end-after", .duration, "the relay ends the activity this long after its last event")

    static let ofLives: [Flag] = [renew, onTokenGone, onUnknownStart, startWait, endAfter]
}

extension Argument {
    static let channelName = Argument("NAME", .text("NAME"), "the channel")
}

extension Subcommand {
    static let channelPut = Subcommand(
        path: ["channel", "put"], summary: "Create a broadcast channel at Apple",
        arguments: [.channelName], flags: [.app, .ofEnvironment, .storage] + Flag.ofWriters,
        details: [
            "The app subscribes to the id in the answer (iOS 18 and later). One push of an activity\n"
                + "on the channel then reaches each card that subscribes."
        ], examples: ["tombolo channel put final --storage most_recent"], run: ChannelCommands.put)

    static let channelList = Subcommand(
        path: ["channel", "ls"], summary: "List broadcast channels, and the quota at Apple",
        flags: Flag.ofClients,
        details: ["On a pipe it is one JSON document, because it has the quotas too."],
        examples: ["tombolo channel ls"], run: ChannelCommands.list)

    static let channelShow = Subcommand(
        path: ["channel", "show"], summary: "Show a channel, and whether it exists at Apple",
        arguments: [.channelName], flags: Flag.ofClients,
        examples: ["tombolo channel show final"], run: ChannelCommands.show)

    static let channelRemove = Subcommand(
        path: ["channel", "rm"], summary: "Delete a channel permanently",
        arguments: [
            Argument(
                "NAME", .text("NAME"),
                "the channel; or the id of one that exists only at Apple")
        ], flags: Flag.ofWriters,
        examples: [
            "tombolo channel rm final", "tombolo channel rm dHN0LXNyY2gtY2hubA== --dry-run",
        ], run: ChannelCommands.remove)
}
