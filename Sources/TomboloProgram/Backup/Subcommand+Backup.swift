// Rows of the command table: copies of a log.

extension Flag {
    static let damaged = toggle("damaged", "restore also a copy that is damaged")
}

extension Subcommand {
    static let backupCreate = Subcommand(
        path: ["backup", "create"], summary: "Copy a log, also while a relay runs on it",
        arguments: [Argument("DIR", .directory, "where the copy goes; it is made")],
        flags: [.data, .configuration, .output],
        details: [
            "The copy is of one moment and durable when the command ends. It holds what API keys\n"
                + "need: keep it as you keep the data directory. A key that is deleted later still opens\n"
                + "in the copy.",
            "All of the copy is read. Where rows of the log are damaged the copy has them as they\n"
                + "are: each has a line, and the status is 6.",
        ], examples: ["tombolo backup create /backups/monday --data /var/lib/tombolo"],
        exits: [.notFoundOrConflict, .partly], run: BackupCommands.create)

    static let backupRestore = Subcommand(
        path: ["backup", "restore"], summary: "Put a copy into a data directory without a log",
        arguments: [Argument("DIR", .directory, "the copy")], flags: [.data, .damaged, .output],
        details: [
            "The copy is verified first. A damaged one is refused without --damaged.",
            "What came after the copy is gone, but phones may have had it: alerts from before the\n"
                + "restore stay silent, and timestamps go on from now.",
            "The API keys are those of the copy: a key that was deleted or rotated after it opens again.\n"
                + "The keys that open are printed. Delete what nobody should have: tombolo key rm ID.",
        ], examples: ["tombolo backup restore /backups/monday --data /var/lib/tombolo"],
        exits: [.notFoundOrConflict, .partly], makesFiles: true, run: BackupCommands.restore)

    static let backupVerify = Subcommand(
        path: ["backup", "verify"], summary: "Read a whole copy and say whether it is sound",
        arguments: [Argument("DIR", .directory, "the copy")], flags: [.output],
        examples: ["tombolo backup verify /backups/monday"],
        exits: [.notFoundOrConflict], run: BackupCommands.verify)
}
