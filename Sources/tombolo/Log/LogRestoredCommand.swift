import TomboloEventLog

/// `log restored`: records that a log was restored, if this was not done by `backup restore`.
enum LogRestoredCommand {
    static func run(_ context: CommandContext) async throws -> ExitStatus {
        do {
            try LogHome(context, "log restored --config FILE").setRestored()
        } catch let error as EventLogError {
            throw ProgramError(error)
        }
        try context.terminal.print(
            OutputFormat(context) == .table
                ? "the log counts as restored: start the relay" : "{\"restored\":true}")
        return .succeeded
    }
}
