// Rows of the table: a log's files, with and without a relay on them.

extension Flag {
    static let logFile = Flag("file", .file, "the lines; stdin or stdout without it")
}

extension Subcommand {
    static let logVerify = Subcommand(
        path: ["log", "verify"], summary: "Read a whole log and say whether it is sound",
        flags: [.data, .output],
        details: [
            "Sequences have no gap, every row has its checksum, versions and back pointers agree,\n"
                + "and each activity's state is rebuilt from its events and compared. A relay may run."
        ],
        examples: ["tombolo log verify --data /var/lib/tombolo"],
        exits: [.notFoundOrConflict], run: LogVerifyCommand.run)
}
