enum KeyCommands { static func mint(_ c: CommandContext) async throws -> ExitStatus { .failed } }
enum DevCommand { static func run(_ c: CommandContext) async throws -> ExitStatus { .failed } }
enum ServeCommand { static func run(_ c: CommandContext) async throws -> ExitStatus { .failed } }
enum SimCommand { static func run(_ c: CommandContext) async throws -> ExitStatus { .failed } }
