// Rows of the command table: commands for whole logs, with or without a running relay.

extension Subcommand {
    static let logCreate = Subcommand(
        path: ["log", "create"],
        summary: "Create a log in a database, and the secret of its API keys",
        flags: [.configuration, .output],
        details: [
            "Creates the schema, its tables and the file that pepper_file names, and changes nothing\n"
                + "that exists. In a data directory the relay itself creates the log."
        ],
        examples: ["tombolo log create --config /etc/tombolo/tombolo.json"],
        exits: [.notFoundOrConflict],
        makesFiles: true, run: LogCreateCommand.run)

    static let logRestored = Subcommand(
        path: ["log", "restored"],
        summary: "Mark a log as restored: phones have seen newer states",
        flags: Flag.ofLogs + [.output],
        details: [
            "For a database that was restored to a point in time, or for a copy of a disk, before a\n"
                + "relay uses it. Alerts from before are not sent again, timestamps continue from now, and\n"
                + "cursors of followers are refused with 410. backup restore does this itself."
        ],
        examples: ["tombolo log restored --config /etc/tombolo/tombolo.json"],
        exits: [.notFoundOrConflict], run: LogRestoredCommand.run)

    static let logVerify = Subcommand(
        path: ["log", "verify"], summary: "Check a whole log",
        flags: Flag.ofLogs + [.output],
        details: [
            "Checks that sequence numbers have no gap, that each row has its checksum, and that\n"
                + "versions and back pointers agree. Rebuilds each activity's state from its events and\n"
                + "compares it. A relay may use the log meanwhile."
        ],
        examples: ["tombolo log verify --data /var/lib/tombolo"],
        exits: [.notFoundOrConflict], run: LogVerifyCommand.run)

    static let logExport = Subcommand(
        path: ["log", "export"], summary: "Print a whole log as lines, one JSON object each",
        flags: Flag.ofLogs,
        details: [
            "The lines are events, facts, the newest states, devices with their tokens, and hashes of\n"
                + "keys: protect them like the data directory. A relay may use the log meanwhile."
        ],
        examples: ["tombolo log export --data /var/lib/tombolo >log.ndjson"],
        exits: [.notFoundOrConflict], run: LogTransferCommands.export)

    static let logImport = Subcommand(
        path: ["log", "import"], summary: "Create a log from the lines of an export",
        arguments: [
            Argument("FILE", .file, optional: true, "the lines; stdin if it is - or left out")
        ],
        flags: Flag.ofLogs + [.output],
        details: [
            "Sequence numbers, versions and idempotency keys stay the same. Copy the file pepper too\n"
                + "if API keys should stay valid."
        ],
        examples: ["tombolo log import log.ndjson --data /var/lib/tombolo"],
        exits: [.notFoundOrConflict],
        makesFiles: true, run: LogTransferCommands.importLog)
}
