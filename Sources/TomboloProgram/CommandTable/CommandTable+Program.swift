extension CommandTable {
    /// The program's commands. Parser, help and completions are all made from these rows.
    package static let tombolo: CommandTable = {
        let running: [Subcommand] = [.dev, .serve, .sim, .trigger]
        let producing: [Subcommand] = [.start, .update, .end, .append]
        let reading: [Subcommand] = [
            .tail, .logList, .logShow, .activityList, .activityShow, .activityDiff,
            .deviceList, .deviceShow, .deviceCheck, .deviceTrial, .search,
        ]
        let pacing: [Subcommand] = [
            .why, .pause, .resume, .deliveryList, .deliveryShow, .deliveryRetry, .budgetShow,
            .budgetSimulate,
            .clipPlan, .clipPlay, .clipStop, .clipPack,
        ]
        let widgets: [Subcommand] = [
            .timelinePut, .timelineList, .timelineShow, .timelineRemove, .timelineReload,
            .controlReload,
        ]
        let channels: [Subcommand] = [.channelPut, .channelList, .channelShow, .channelRemove]
        let phones: [Subcommand] =
            [.expect, .phoneList, .phoneShow, .phoneWidget] + Subcommand.phoneDeeds
        let settingUp: [Subcommand] = [
            .keyMint, .keyList, .keyRotate, .keyRemove, .configInit, .configCheck, .configShow,
            .configDoc, .configReload,
            .completion,
        ]
        let keeping: [Subcommand] = [
            .logCreate, .logRestored,
            .logVerify, .logExport, .logImport, .backupCreate, .backupRestore,
            .backupVerify,
            .eraseActivity, .eraseDevice,
        ]
        let checking: [Subcommand] = [
            .typePut, .typeList, .typeShow, .typeCheck, .typeCodegen, .lint, .doctor, .ready,
            .requests, .upstreamRetry, .deadList, .deadRetry,
        ]
        return CommandTable(
            "tombolo", summary: "Tombolo: a relay for Live Activities.",
            [
                ("Try it, run it", running), ("Produce", producing), ("Look", reading),
                ("Why, budgets and clips", pacing), ("Simulated phones", phones),
                ("Channels", channels), ("Widgets and controls", widgets),
                ("Check", checking), ("Keep, copy, erase", keeping), ("Set up", settingUp),
            ])
    }()
}
