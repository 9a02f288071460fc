import Glibc

/// The three standard streams, and what is known about them.
///
/// Writes are whole or an error; nothing is buffered across calls, so lines of one command come out
/// in order whichever stream they take.
struct Terminal: Sendable {
    private let output: Int32
    private let error: Int32
    /// Whether a human reads stdout: tables and colours only then.
    let outputIsTerminal: Bool
    let errorIsTerminal: Bool
    let inputIsTerminal: Bool
    /// Colours: a terminal, no `NO_COLOR` (no-color.org), and not `TERM=dumb`.
    let usesColor: Bool

    init(environment: [String: String], output: Int32 = 1, error: Int32 = 2) {
        self.output = output
        self.error = error
        outputIsTerminal = isatty(output) == 1
        errorIsTerminal = isatty(error) == 1
        inputIsTerminal = isatty(0) == 1
        usesColor =
            outputIsTerminal && environment["NO_COLOR", default: ""].isEmpty
            && environment["TERM"] != "dumb"
    }

    /// Writes a line for people to stdout. Throws where nobody reads it any more (`head` has seen
    /// enough).
    func print(_ line: String) throws(ProgramError) { try show("\(line)\n") }

    /// Writes lines for people to stdout, without what would move the cursor: others may have
    /// written parts of them.
    func show(_ text: String) throws(ProgramError) {
        try write(Array(Printable.lines(text).utf8))
    }

    func write(_ bytes: some Sequence<UInt8>) throws(ProgramError) {
        if let number = Self.write(Array(bytes), to: output) {
            throw ProgramError("cannot write to stdout: \(SystemError(number))")
        }
    }

    /// Writes lines for people to stderr, cleaned in the same way. That nobody reads it is no
    /// reason to stop.
    func complain(_ text: String) { draw(Printable.lines(text)) }

    /// Writes the program's own text to stderr as it is: it may move the cursor.
    func draw(_ text: String) { _ = Self.write(Array(text.utf8), to: error) }

    /// Columns and rows of the terminal behind stdout; 80 by 24 where there is none.
    var size: (columns: Int, rows: Int) {
        var size = winsize()
        guard ioctl(output, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return (80, 24)
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Answers nil once all is written, or `errno`.
    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32? {
        bytes.withUnsafeBytes { buffer in
            var rest = buffer[...]
            while !rest.isEmpty {
                let count = Glibc.write(
                    descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count > 0 {
                    rest = rest.dropFirst(count)
                } else if errno == EAGAIN {
                    var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    _ = poll(&waiting, 1, -1)
                } else if errno != EINTR {
                    return errno
                }
            }
            return nil
        }
    }
}

/// `errno` as the system words it.
struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    let number: Int32

    init(_ number: Int32) { self.number = number }

    var description: String { String(cString: strerror(number)) }
}
