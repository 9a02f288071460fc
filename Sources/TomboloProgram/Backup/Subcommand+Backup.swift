// Rows of the command table: copies of a log.

extension Flag {
    static let damaged = toggle("damaged", "restore the copy even if it is damaged")
}

extension Subcommand {
    static let backupCreate = Subcommand(
        path: ["backup", "create"], summary: "Copy a log, even while a relay uses it",
        arguments: [Argument("DIR", .directory, "the new directory for the copy")],
        flags: [.data, .configuration, .output],
        details: [
            "The copy shows the log at one moment, and is durable when the command ends. It contains\n"
                + "the secret of the API keys: protect it like the data directory. A key that is deleted\n"
                + "later is still valid in the copy.",
            "The command reads all of the copy. The copy keeps damaged rows of the log as they are:\n"
                + "each gets a line, and the status is 6.",
        ], examples: ["tombolo backup create /backups/monday --data /var/lib/tombolo"],
        exits: [.notFoundOrConflict, .partly], run: BackupCommands.create)

    static let backupRestore = Subcommand(
        path: ["backup", "restore"], summary: "Restore a copy into a data directory without a log",
        arguments: [Argument("DIR", .directory, "the copy")], flags: [.data, .damaged, .output],
        details: [
            "The command first verifies the copy. It refuses a damaged copy without --damaged.",
            "Events after the copy are lost, but phones may have received them: so alerts from before\n"
                + "the restore are not sent again, and timestamps continue from now.",
            "The API keys are those of the copy: a key that was deleted or rotated later is valid\n"
                + "again. The command prints the valid keys. Delete keys that should not be valid: tombolo\n"
                + "key rm ID.",
        ], examples: ["tombolo backup restore /backups/monday --data /var/lib/tombolo"],
        exits: [.notFoundOrConflict, .partly], makesFiles: true, run: BackupCommands.restore)

    static let backupVerify = Subcommand(
        path: ["backup", "verify"], summary: "Check a whole copy",
        arguments: [Argument("DIR", .directory, "the copy")], flags: [.output],
        examples: ["tombolo backup verify /backups/monday"],
        exits: [.notFoundOrConflict], run: BackupCommands.verify)
}
