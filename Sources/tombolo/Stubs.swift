enum ActivityCommands {
    static func start(_ c: CommandContext) async throws -> ExitStatus { .failed }
    static func update(_ c: CommandContext) async throws -> ExitStatus { .failed }
    static func end(_ c: CommandContext) async throws -> ExitStatus { .failed }
}
enum ReadCommands {
    static func activityList(_ c: CommandContext) async throws -> ExitStatus { .failed }
    static func activityShow(_ c: CommandContext) async throws -> ExitStatus { .failed }
    static func deviceShow(_ c: CommandContext) async throws -> ExitStatus { .failed }
    static func logList(_ c: CommandContext) async throws -> ExitStatus { .failed }
    static func logShow(_ c: CommandContext) async throws -> ExitStatus { .failed }
}
enum StreamCommands {
    static func append(_ c: CommandContext) async throws -> ExitStatus { .failed }
    static func tail(_ c: CommandContext) async throws -> ExitStatus { .failed }
}
enum KeyCommands { static func mint(_ c: CommandContext) async throws -> ExitStatus { .failed } }
enum DevCommand { static func run(_ c: CommandContext) async throws -> ExitStatus { .failed } }
enum ServeCommand { static func run(_ c: CommandContext) async throws -> ExitStatus { .failed } }
enum SimCommand { static func run(_ c: CommandContext) async throws -> ExitStatus { .failed } }
enum TriggerCommand { static func run(_ c: CommandContext) async throws -> ExitStatus { .failed } }
