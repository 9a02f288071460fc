import Glibc

/// Takes over the whole terminal, draws on it, and restores it.
///
/// `close` must be called before the command ends. Nothing remains in the scroll-back.
final class TerminalScreen: @unchecked Sendable {
    // Sendable: used on the loop's thread only.

    private let terminal: Terminal
    private let output: LineOutput
    private let saved: termios?

    /// Switches to the alternate screen and hides the cursor. If `readsKeys` is true, the terminal
    /// delivers each key at once and does not echo it.
    init(_ terminal: Terminal, output: LineOutput, readsKeys: Bool) {
        self.terminal = terminal
        self.output = output
        var state = termios()
        if readsKeys, tcgetattr(0, &state) == 0 {
            saved = state
            state.c_lflag &= ~tcflag_t(ICANON | ECHO)
            tcsetattr(0, TCSANOW, &state)
        } else {
            saved = nil
        }
        output.draw("\u{1B}[?1049h\u{1B}[?25l\u{1B}[2J")
    }

    /// Draws `lines` from the top and `foot` below them. If the terminal has too few rows, lines at
    /// the end and then the first lines of the foot are left out.
    func draw(_ lines: [String], foot: [String] = []) {
        let size = terminal.size
        let rows = Self.rows(lines, foot, atMost: size.rows, columns: size.columns)
        output.draw(
            "\u{1B}[H" + rows.map { "\($0)\u{1B}[K" }.joined(separator: "\r\n") + "\u{1B}[J")
    }

    /// - Parameter columns: the terminal's width. A line of the foot that is wider takes several
    ///   rows, so that it can be copied whole.
    static func rows(
        _ lines: [String], _ foot: [String], atMost most: Int, columns: Int
    ) -> [String] {
        var left = most
        var kept: [String] = []
        for line in foot.reversed() {
            let height = max(1, (Cells.width(line) + columns - 1) / max(1, columns))
            guard height <= left else { break }
            left -= height
            kept.insert(line, at: 0)
        }
        return Array(lines.prefix(left)) + kept
    }

    func close() {
        output.end()
        // This write may block, because it must restore the terminal. On failure it is gone.
        try? terminal.write("\u{1B}[?25h\u{1B}[?1049l".utf8)
        if var saved { tcsetattr(0, TCSANOW, &saved) }
    }
}
