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
            Argument("FILE", .file, optional: true, "tombolo.json without it; - is stdout")
        ],
        flags: [
            .initListen, .initData, .initApp, .teamID, .initKeyID, .initKeyFile, .initEnvironment,
            .tlsCertificate, .tlsKey,
        ],
        details: [
            "On a terminal it asks for what no flag says; elsewhere that has its default. A file that is\n"
                + "there is left as it is. Every key is in it with its meaning, its range and its default."
        ],
        examples: [
            "tombolo config init /etc/tombolo/tombolo.json",
            "tombolo config init - --app com.example.app --team-id TEAM123456 --key-id ABC123DEFG",
        ], exits: [.notFoundOrConflict], run: InitCommand.run)

    static let configReload = Subcommand(
        path: ["config", "reload"], summary: "Let the running relay read its configuration again",
        flags: Flag.ofWriters,
        details: [
            "As SIGHUP does: other push keys and another certificate are taken into use. Each thing that\n"
                + "came of it is a line: applied, restart (a restart applies it), or refused, with the cause\n"
                + "and the fix. It needs a key of the tenant main with scope operate. Status 7: something\n"
                + "needs a restart; 6: some is applied and some refused; 1: all is refused."
        ], examples: ["tombolo config reload", "tombolo config reload --dry-run -o json"],
        exits: [.partly, .lint, .unauthorized, .unreachable], run: ReloadCommand.run)
}
