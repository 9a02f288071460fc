import TomboloLoop

/// Shows on stderr how much `append` has sent and what was answered. Used on the loop only.
final class AppendProgress: @unchecked Sendable {
    // Sendable: used on the loop's thread only.

    private let terminal: Terminal
    private let loop: EpollLoop
    private let isDrawn: Bool
    private var sentLines = 0
    /// Lines that went with earlier requests. A relay counts the lines of each request from 1.
    private var linesBefore = 0
    private var drawnAt: MonotonicInstant
    private(set) var tally = AppendTally()

    /// Minimum time between two drawings. More would not be visible.
    static let interval = Duration.milliseconds(100)

    init(_ context: CommandContext) {
        terminal = context.terminal
        loop = context.loop
        isDrawn = context.terminal.errorIsTerminal && !context.invocation.isGiven(.quiet)
        drawnAt = context.loop.now
    }

    func beginRequest() { linesBefore = sentLines }

    func sent(_ piece: [UInt8]) {
        sentLines += piece.count { $0 == 10 }
        draw()
    }

    /// Counts one answer. Returns it with the number that its line has in the whole input.
    func answered(_ line: ArraySlice<UInt8>) throws(ProgramError) -> ArraySlice<UInt8> {
        defer { draw() }
        return try tally.note(line, after: linesBefore)
    }

    /// Clears the progress line for the next output.
    func end() { if isDrawn { terminal.draw("\r\u{1B}[K") } }

    private func draw() {
        guard isDrawn, loop.now - drawnAt >= Self.interval else { return }
        drawnAt = loop.now
        terminal.draw(
            "\r\(sentLines) lines sent, \(tally.answered) answered, \(tally.refused) refused\u{1B}[K"
        )
    }
}
