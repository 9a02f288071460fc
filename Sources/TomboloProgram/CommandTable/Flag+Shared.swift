// Flags that several commands share. Each has one spelling, one default and one variable.

extension Flag {
    package static let relay = Flag(
        "relay", .origin, default: "http://127.0.0.1:8780", environment: "TOMBOLO_RELAY",
        "the relay to connect to")
    package static let key = Flag(
        "key", .text("KEY"), environment: "TOMBOLO_KEY", secret: true, "an API key of the relay")
    package static let caFile = Flag(
        "ca", .file, environment: "TOMBOLO_CA",
        "certificate authority to trust for an https relay, instead of the system's")
    package static let output = Flag(
        "output", short: "o", .choice(OutputFormat.allCases.map(\.rawValue)),
        "the output format; by default a table on a terminal, JSON elsewhere (of a list: jsonl)")
    static let listen = Flag(
        "listen", .address, default: "127.0.0.1:8780", environment: "TOMBOLO_LISTEN",
        "where the relay listens; port 0 lets the system choose")
    static let data = Flag(
        "data", .directory, environment: "TOMBOLO_DATA", "the relay's data directory")
    package static let database = Flag(
        "database", .text("URL"),
        "a log in PostgreSQL, for experiments: postgres://USER@HOST:PORT/DATABASE")
    static let configuration = Flag(
        "config", .file, environment: "TOMBOLO_CONFIG", "the configuration file")

    static let dryRun = toggle(
        "dry-run", "report what would happen; nothing is stored and nothing is sent")

    /// The flags that name a log.
    static let ofLogs: [Flag] = [data, database, configuration]
    /// The flags of every command that connects to a relay.
    static let ofClients: [Flag] = [relay, key, caFile, output]
    /// The flags of every command that changes something at a relay.
    static let ofWriters: [Flag] = [dryRun] + ofClients
}

/// How a command prints its result.
enum OutputFormat: String, Hashable, Sendable, CaseIterable {
    /// For people.
    case table
    /// One JSON document.
    case json
    /// One JSON value per line.
    case jsonl
}

extension OutputFormat {
    /// The format that `-o` gives. Without `-o`: a table on a terminal, else `format`.
    init(_ context: CommandContext, elsewhere format: OutputFormat = .json) {
        let asked = context.invocation.text(.output).flatMap(OutputFormat.init(rawValue:))
        self = asked ?? (context.terminal.outputIsTerminal ? .table : format)
    }
}
