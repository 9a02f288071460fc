import Glibc

/// Takes the whole terminal, draws on it, and gives it back as it was.
///
/// `close` must run however the command ends; nothing is left in the scroll-back.
final class TerminalScreen: Sendable {
    private let terminal: Terminal
    private let saved: termios?

    /// Switches to the alternate screen, without a cursor. With `readsKeys` the terminal hands over keys one
    /// by one, and does not show them.
    init(_ terminal: Terminal, readsKeys: Bool) {
        self.terminal = terminal
        var state = termios()
        if readsKeys, tcgetattr(0, &state) == 0 {
            saved = state
            state.c_lflag &= ~tcflag_t(ICANON | ECHO)
            tcsetattr(0, TCSANOW, &state)
        } else {
            saved = nil
        }
        put("\u{1B}[?1049h\u{1B}[?25l\u{1B}[2J")
    }

    /// Draws `lines` from the top, cut to the terminal's height.
    func draw(_ lines: [String]) {
        let rows = lines.prefix(terminal.size.rows)
        put("\u{1B}[H" + rows.map { "\($0)\u{1B}[K" }.joined(separator: "\r\n") + "\u{1B}[J")
    }

    func close() {
        put("\u{1B}[?25h\u{1B}[?1049l")
        if var saved { tcsetattr(0, TCSANOW, &saved) }
    }

    private func put(_ text: String) {
        // A terminal that is gone needs no restoring, and the command notices by its hang-up.
        try? terminal.write(Array(text.utf8))
    }
}
