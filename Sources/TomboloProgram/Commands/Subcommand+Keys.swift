// Rows of the command table: API keys.

extension Flag {
    static let keyName = Flag("name", .text("NAME"), "a description of what the key is for")
    static let keyLife = Flag(
        "expires-in", .text("DURATION"),
        "how long it is valid, such as 90d; without it there is no limit")
    static let grace = Flag(
        "grace", .text("DURATION"),
        "how long the old key stays valid beside the new one: 1h by default, 0s to 30d")
}

extension Flag {
    static let keysOf = Flag(
        "tenant", .text("TENANT"),
        "another tenant; this needs a key of the tenant main with scope operate")
}

extension Argument {
    static let keyID = Argument("ID", .text("ID"), "the key's id, as in key ls")
}

extension Subcommand {
    static let keyMint = Subcommand(
        path: ["key", "mint"], summary: "Create an API key; it is shown only once",
        flags: [.scope, .keyName, .keyLife, .boundUser, .boundApp, .tenant, .data, .configuration]
            + Flag.ofWriters,
        details: [
            "A running relay creates the key: give --relay, and a --key with scope operate. If you\n"
                + "have no such key, stop the relay, create one with --data, and start the relay again:\n"
                + "with --data the command writes into the data directory, which no relay may use then. If\n"
                + "the log is in a database, use --config instead of --data."
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
            "A key without CREATED_BY was created on the relay's machine. Expired keys are listed\n"
                + "while the relay runs for another 30 days, and then deleted."
        ], examples: ["tombolo key ls", "tombolo key ls --tenant acme"], run: KeyCommands.list)

    static let keyRemove = Subcommand(
        path: ["key", "rm"], summary: "Delete an API key; tails and uploads with it end",
        arguments: [.keyID], flags: [.keysOf] + Flag.ofWriters,
        examples: ["tombolo key rm 5Jq0", "tombolo key rm 5Jq0 --tenant acme"],
        run: KeyCommands.remove)

    static let keyRotate = Subcommand(
        path: ["key", "rotate"], summary: "Replace a key by a new one with the same rights",
        arguments: [.keyID], flags: [.grace] + Flag.ofWriters,
        details: [
            "Both keys are valid until the grace is over. The new key has the name, the scopes and\n"
                + "the lifetime that the old key was created with. A key that rotates itself needs a grace\n"
                + "of at least 1m. An expired key cannot be rotated: create a new one."
        ], examples: ["tombolo key rotate 5Jq0", "tombolo key rotate 5Jq0 --grace 24h -o json"],
        run: KeyCommands.rotate)
}
