import Glibc
package import TomboloJSON

/// The three standard streams and their properties.
///
/// A write writes everything or fails. Nothing is buffered between calls, so a command's lines
/// appear in order even on different streams.
package struct Terminal: Sendable {
    private let output: Int32
    private let error: Int32
    /// True if stdout is a terminal. Only then output has tables and colours.
    let outputIsTerminal: Bool
    let errorIsTerminal: Bool
    let inputIsTerminal: Bool
    /// True if colours may be used: stdout is a terminal, `NO_COLOR` is not set (no-color.org), and
    /// `TERM` is not `dumb`.
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

    /// Writes a line for people to stdout. Throws if the reader has closed it, as `head` does: then
    /// the program ends with `ExitStatus.closedPipe`, without a word.
    package func print(_ line: String) throws(ProgramError) { try show("\(line)\n") }

    /// Writes lines for people to stdout, without control characters, because strangers may have
    /// written parts of them.
    func show(_ text: String) throws(ProgramError) { try write(Array(Printable.lines(text).utf8)) }

    package func write(_ table: TextTable) throws(ProgramError) {
        try write(table.text(for: self).utf8)
    }

    package func write(line json: JSON) throws(ProgramError) { try write(json.bytes + [10]) }

    /// Writes one JSON object, with the members that `write` writes.
    package func printObject(_ write: (inout JSONWriter) -> Void) throws(ProgramError) {
        try self.write(line: JSON.object(write))
    }

    package func write(_ bytes: some Sequence<UInt8>) throws(ProgramError) {
        if let number = Self.write(Array(bytes), to: output) {
            guard number != EPIPE else {
                throw ProgramError(
                    "stdout is closed: what was done stays done, and its answer is lost",
                    status: .closedPipe)
            }
            throw ProgramError("cannot write to stdout: \(SystemError(number))")
        }
    }

    /// Writes lines for people to stderr, without control characters. Ignores errors.
    func complain(_ text: String) { draw(Printable.lines(text)) }

    /// Writes the program's own text to stderr unchanged, so it may move the cursor.
    func draw(_ text: String) { _ = Self.write(Array(text.utf8), to: error) }

    /// Columns and rows of the terminal at stdout; 80 by 24 if it is not a terminal.
    var size: (columns: Int, rows: Int) {
        var size = winsize()
        guard ioctl(output, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return (80, 24)
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Writes all bytes. Returns nil on success, else the `errno`.
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

/// An `errno` value. Its description is the system's.
package struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    let number: Int32

    init(_ number: Int32) { self.number = number }

    package var description: String { String(cString: strerror(number)) }
}
