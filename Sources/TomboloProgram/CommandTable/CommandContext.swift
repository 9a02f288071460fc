package import TomboloLoop

/// The input of a command: its arguments, its terminal, and the loop on which it runs.
package struct CommandContext: Sendable {
    package let invocation: Invocation
    package let terminal: Terminal
    package let loop: EpollLoop
    /// The environment of this process, which child processes inherit.
    let environment: [String: String]
}
