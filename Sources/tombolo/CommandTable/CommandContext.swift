import TomboloLoop

/// The input of a command: its arguments, its terminal, and the loop on which it runs.
struct CommandContext: Sendable {
    let invocation: Invocation
    let terminal: Terminal
    let loop: EpollLoop
    /// The environment of this process, which child processes inherit.
    let environment: [String: String]
}
