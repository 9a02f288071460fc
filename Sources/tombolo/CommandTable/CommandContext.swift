import TomboloLoop

/// What a command works with: what was asked, where it prints, and the loop it runs on.
struct CommandContext: Sendable {
    let invocation: Invocation
    let terminal: Terminal
    let loop: EpollLoop
    /// The process's environment, for children.
    let environment: [String: String]
}
