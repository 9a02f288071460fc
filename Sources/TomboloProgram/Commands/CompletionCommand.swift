enum CompletionCommand {
    static func run(_ context: CommandContext) async throws -> ExitStatus {
        let shell = context.invocation.arguments[0]
        try context.terminal.write(ShellCompletion(table: .tombolo, shell: shell).text.utf8)
        return .succeeded
    }
}
