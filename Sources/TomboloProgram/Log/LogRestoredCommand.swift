/// `log restored`: records that a log was restored, if this was not done by `backup restore`.
enum LogRestoredCommand {
    static func run(_ context: CommandContext) async throws -> ExitStatus {
        try LogHome(context, "log restored --config FILE").setRestored()
        try context.terminal.print(
            context.printsTable
                ? "the log counts as restored: start the relay" : "{\"restored\":true}")
        return .succeeded
    }
}
