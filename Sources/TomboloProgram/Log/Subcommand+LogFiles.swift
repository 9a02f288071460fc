// Rows of the command table: commands for whole logs, with or without a running relay.

extension Subcommand {
    static let logCreate = Subcommand(
        path: ["log", "create"],
        summary: "Make a log in a database, and the secret of its API keys",
        flags: [.configuration, .output],
        details: [
            "Makes the schema, its tables and the file that pepper_file names. What is there already\n"
                + "stays. A log in a data directory is made by the relay itself."
        ],
        examples: ["tombolo log create --config /etc/tombolo/tombolo.json"],
        exits: [.notFoundOrConflict],
        makesFiles: true, run: LogCreateCommand.run)

    static let logRestored = Subcommand(
        path: ["log", "restored"],
        summary: "Say that a log is an older state of itself than phones have seen",
        flags: Flag.ofLogs + [.output],
        details: [
            "For a database that was put back to a point in time, or a copy of a disk, before a relay\n"
                + "starts on it. Alerts from before stay silent, timestamps go on from now, cursors of\n"
                + "followers are refused with 410. backup restore does the same by itself."
        ],
        examples: ["tombolo log restored --config /etc/tombolo/tombolo.json"],
        exits: [.notFoundOrConflict], run: LogRestoredCommand.run)

    static let logVerify = Subcommand(
        path: ["log", "verify"], summary: "Read a whole log and say whether it is sound",
        flags: Flag.ofLogs + [.output],
        details: [
            "Sequences have no gap, every row has its checksum, versions and back pointers agree,\n"
                + "and each activity's state is rebuilt from its events and compared. A relay may run."
        ],
        examples: ["tombolo log verify --data /var/lib/tombolo"],
        exits: [.notFoundOrConflict], run: LogVerifyCommand.run)

    static let logExport = Subcommand(
        path: ["log", "export"], summary: "Print a whole log as lines, one JSON object each",
        flags: Flag.ofLogs,
        details: [
            "Events, facts, the newest states, devices with their tokens and hashes of keys: keep it\n"
                + "as you keep the data directory. A relay may run."
        ],
        examples: ["tombolo log export --data /var/lib/tombolo >log.ndjson"],
        exits: [.notFoundOrConflict], run: LogTransferCommands.export)

    static let logImport = Subcommand(
        path: ["log", "import"], summary: "Make a log of an export's lines",
        arguments: [Argument("FILE", .file, optional: true, "the lines; - (or none) is stdin")],
        flags: Flag.ofLogs + [.output],
        details: [
            "Sequences, versions and idempotency keys stay as they were. Copy the file pepper too,\n"
                + "if API keys shall stay valid."
        ],
        examples: ["tombolo log import log.ndjson --data /var/lib/tombolo"],
        exits: [.notFoundOrConflict],
        makesFiles: true, run: LogTransferCommands.importLog)
}
