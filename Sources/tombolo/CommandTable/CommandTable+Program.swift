extension CommandTable {
    /// The program's commands. Everything that is known about them stands here and in the files of their rows.
    static let tombolo = CommandTable(
        [.dev, .serve, .sim, .trigger]
            + [.start, .update, .end, .append, .tail]
            + [.logList, .logShow, .activityList, .activityShow, .deviceShow]
            + [.keyMint, .configCheck, .configShow, .completion])
}
