// Rows of the command table: API keys.

extension Flag {
    static let keyName = Flag("name", .text("NAME"), "what the key is for, in your own words")
    static let keyLife = Flag(
        "expires-in", .text("DURATION"), "how long it opens, such as 90d; without it, for good")
    static let grace = Flag(
        "grace", .text("DURATION"),
        "how long the old key opens beside the new one: 1h by default, 0s to 30d")
}

extension Flag {
    static let keysOf = Flag(
        "tenant", .text("TENANT"),
        "of another tenant; needs a key of the tenant main with scope operate")
}

extension Argument {
    static let keyID = Argument("ID", .text("ID"), "the key's id, as key ls tells it")
}

extension Subcommand {
    static let keyMint = Subcommand(
        path: ["key", "mint"], summary: "Make an API key; it is shown once",
        flags: [.scope, .keyName, .keyLife, .boundUser, .boundApp, .tenant, .data, .configuration]
            + Flag.ofWriters,
        details: [
            "A running relay makes the key: give --relay and a --key of scope operate. Where there is\n"
                + "no such key, stop the relay, make one with --data, the relay's data directory, and\n"
                + "start it again: with --data the key is written there directly, which only works\n"
                + "while no relay runs on it. A log in a database is named by --config."
        ],
        examples: [
            "tombolo key mint --scope produce,observe --data /var/lib/tombolo -o json",
            "tombolo key mint --scope observe --name dashboard --expires-in 90d",
            "tombolo key mint --scope device:phone-1 --user u42 --app com.example.app",
        ], makesFiles: true, run: KeyCommands.mint)

    static let keyList = Subcommand(
        path: ["key", "ls"], summary: "List API keys, who made them, and when they were used last",
        flags: [.keysOf] + Flag.ofClients,
        details: [
            "A key without CREATED_BY was made on the relay's machine. Expired keys are listed for 30 days\n"
                + "in which the relay runs, and then deleted."
        ], examples: ["tombolo key ls", "tombolo key ls --tenant acme"], run: KeyCommands.list)

    static let keyRemove = Subcommand(
        path: ["key", "rm"], summary: "Delete an API key; its tails and uploads end",
        arguments: [.keyID], flags: [.keysOf] + Flag.ofWriters,
        examples: ["tombolo key rm 5Jq0", "tombolo key rm 5Jq0 --tenant acme"],
        run: KeyCommands.remove)

    static let keyRotate = Subcommand(
        path: ["key", "rotate"], summary: "Make a key like this one, which then takes its place",
        arguments: [.keyID], flags: [.grace] + Flag.ofWriters,
        details: [
            "Both open until the grace is over. The new one has the name, the scopes and the life of the\n"
                + "old one, as it was made. A key that rotates itself needs a grace of at least 1m. A key\n"
                + "that has expired is not rotated: make a new one."
        ], examples: ["tombolo key rotate 5Jq0", "tombolo key rotate 5Jq0 --grace 24h -o json"],
        run: KeyCommands.rotate)
}
