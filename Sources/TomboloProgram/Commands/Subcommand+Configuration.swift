// Rows of the command table: the configuration file and its reload.

extension Flag {
    static let initListen = Flag("listen", .address, "where the relay listens")
    static let initData = Flag("data", .directory, "the relay's data directory")
    static let initApp = Flag("app", .text("BUNDLE"), "the app's bundle id")
    static let initKeyID = Flag("key-id", .text("ID"), "the id of the push key (.p8)")
    static let initKeyFile = Flag("key-file", .file, "the push key's file")
    static let initEnvironment = Flag(
        "environment", .choice(["production", "sandbox"]), "the environment of the app's tokens")
}

extension Subcommand {
    static let configInit = Subcommand(
        path: ["config", "init"], summary: "Write a first configuration file, with comments",
        arguments: [
            Argument(
                "FILE", .file, optional: true,
                "the file to write (default tombolo.json); - is stdout")
        ],
        flags: [
            .initListen, .initData, .initApp, .teamID, .initKeyID, .initKeyFile, .initEnvironment,
            .tlsCertificate, .tlsKey,
        ],
        details: [
            "On a terminal it asks for each value without a flag; elsewhere it uses the defaults. It\n"
                + "never overwrites a file. The file has all keys, each with its meaning, range and\n"
                + "default."
        ],
        examples: [
            "tombolo config init /etc/tombolo/tombolo.json",
            "tombolo config init - --app com.example.app --team-id TEAM123456 --key-id ABC123DEFG",
        ], exits: [.notFoundOrConflict], run: InitCommand.run)

    static let configReload = Subcommand(
        path: ["config", "reload"], summary: "Make the running relay read its configuration again",
        flags: Flag.ofWriters,
        details: [
            "Does the same as SIGHUP: it applies new push keys and a new certificate. Each change is\n"
                + "a line: applied, restart (it needs a restart), or refused, with cause and fix. The key\n"
                + "must be of the tenant main and have the scope operate. Status 7: something needs a\n"
                + "restart; 6: some changes are refused; 1: all are refused."
        ], examples: ["tombolo config reload", "tombolo config reload --dry-run -o json"],
        exits: [.partly, .lint, .unauthorized, .unreachable], run: ReloadCommand.run)
}
