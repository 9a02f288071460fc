// Rows of the command table: broadcast channels.

extension Flag {
    static let ofEnvironment = Flag(
        "environment", .choice(["production", "sandbox"]), "where an app is there for both")
    static let storage = Flag(
        "storage", .choice(["none", "most_recent"]),
        "what Apple keeps for phones that are away; it never changes")
}

extension Flag {
    static let channel = Flag(
        "channel", .text("NAME"), "all cards that listen on this broadcast channel show it")
    static let startRoute = Flag(
        "start", .choice(["push", "adopt", "channel", "auto"]),
        "how the card comes to be there: by push, by the app itself, or with a channel of its own")
    static let renew = Flag(
        "renew", .choice(["never", "always"]), "whether a new card follows before the eighth hour")
    static let onTokenGone = Flag(
        "on-token-gone", .choice(["stop", "restart"]), "what a dead update token leads to")
    static let onUnknownStart = Flag(
        "on-unknown-start", .choice(["give_up", "resend"]),
        "what becomes of a start whose outcome nobody knows")

    static let startWait = Flag(
        "start-wait", .duration, "how long the start may wait on a device (15m)")

    static let endAfter = Flag(
        "end-after", .duration, "how long after its last event the relay ends it")

    static let ofLives: [Flag] = [renew, onTokenGone, onUnknownStart, startWait, endAfter]
}

extension Argument {
    static let channelName = Argument("NAME", .text("NAME"), "the channel")
}

extension Subcommand {
    static let channelPut = Subcommand(
        path: ["channel", "put"], summary: "Make a broadcast channel at Apple",
        arguments: [.channelName], flags: [.app, .ofEnvironment, .storage] + Flag.ofWriters,
        details: [
            "The app subscribes to the id in the answer (iOS 18 and later); an activity whose\n"
                + "audience is the channel then reaches all that listen with one push."
        ], examples: ["tombolo channel put final --storage most_recent"], run: ChannelCommands.put)

    static let channelList = Subcommand(
        path: ["channel", "ls"], summary: "List broadcast channels, and the quota at Apple",
        flags: Flag.ofClients, examples: ["tombolo channel ls"], run: ChannelCommands.list)

    static let channelShow = Subcommand(
        path: ["channel", "show"], summary: "Show a channel, and whether Apple knows it",
        arguments: [.channelName], flags: Flag.ofClients,
        examples: ["tombolo channel show final"], run: ChannelCommands.show)

    static let channelRemove = Subcommand(
        path: ["channel", "rm"], summary: "Delete a channel, for good",
        arguments: [
            Argument(
                "NAME", .text("NAME"),
                "the channel; or Apple's id of one that channel ls knows nothing of")
        ], flags: Flag.ofWriters,
        examples: [
            "tombolo channel rm final", "tombolo channel rm dHN0LXNyY2gtY2hubA== --dry-run",
        ], run: ChannelCommands.remove)
}
