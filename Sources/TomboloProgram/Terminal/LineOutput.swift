import Glibc
import TomboloJSON
import TomboloLoop

/// Writes lines to stdout or stderr and never waits for a reader: a stopped terminal, or a script
/// that reads only the first line, must not stop a relay.
///
/// A limited buffer holds what the reader has not read. If it is full, lines are left out, and a
/// later line reports their number. A full disk has the same effect. Files and sockets are written
/// directly. Used on the loop only.
final class LineOutput: ReadinessTarget, @unchecked Sendable {
    // Sendable: used on the loop's thread only.

    private let descriptor: Int32
    private let ownsDescriptor: Bool
    private let loop: EpollLoop
    private var waiting: [UInt8] = []
    private var leftOut = 0
    /// If `waiting` begins with a line about left-out lines: its length and their number.
    private var telling = (bytes: 0, lines: 0)
    /// True if only a part of a line was written and its rest was lost.
    private var isCut = false
    /// True if `waiting` holds a drawing for the terminal.
    private var isPicture = false
    private let leftOutLine: (Int) -> [UInt8]
    private var isRegistered = false
    private var isGone = false

    /// Maximum size of the buffer in bytes. A reader that is further behind has stopped reading.
    static let waitingBytesMax = 256 << 10

    /// - Parameter leftOutLine: makes the line that reports the given number of left-out lines.
    init(
        loop: EpollLoop, descriptor wanted: Int32 = 1,
        leftOutLine: @escaping (Int) -> [UInt8] = LineOutput.leftOut
    ) {
        self.loop = loop
        self.leftOutLine = leftOutLine
        var status = stat()
        let kind = fstat(wanted, &status) == 0 ? status.st_mode & S_IFMT : 0
        // Open the pipe or terminal again, because the shell shares the old open file, and
        // non-blocking mode would affect it. A file must not be opened again: it would be
        // overwritten from its start.
        let opened =
            kind == S_IFIFO || kind == S_IFCHR
            ? open("/proc/self/fd/\(wanted)", O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY) : -1
        ownsDescriptor = opened >= 0
        descriptor = ownsDescriptor ? opened : wanted
    }

    /// `{"left_out":N}`.
    static func leftOut(_ count: Int) -> [UInt8] {
        JSON.object { $0.member("left_out", count) }.bytes
    }

    deinit { if ownsDescriptor { close(descriptor) } }

    func write(line: [UInt8]) {
        guard !isGone else { return }
        if leftOut > 0, waiting.isEmpty {
            waiting = (isCut ? [10] : []) + leftOutLine(leftOut) + [10]
            telling = (waiting.count, leftOut)
            leftOut = 0
            isCut = false
        }
        guard waiting.count + line.count < Self.waitingBytesMax else {
            leftOut += 1
            return
        }
        waiting += line
        waiting.append(10)
        isPicture = false
        flush()
    }

    /// Writes a whole drawing. Skips it if the previous one is not written yet.
    func draw(_ text: String) {
        guard waiting.isEmpty else { return }
        waiting = Array(text.utf8)
        isPicture = true
        flush()
    }

    func becameReady(_ readiness: Readiness) { flush() }

    /// Tries to write the rest of the buffer. Nothing is written afterwards.
    func end() {
        flush()
        if isRegistered { loop.deregister(descriptor) }
        isRegistered = false
        isGone = true
    }

    private func flush() {
        while !waiting.isEmpty, !isGone {
            let count = waiting.withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            if count >= 0 {
                isCut = count > 0 && waiting[count - 1] != 10
                waiting.removeFirst(count)
                telling.bytes = max(0, telling.bytes - count)
            } else if errno == EAGAIN {
                break
            } else if errno == EPIPE || errno == EBADF {
                isGone = true
            } else if errno != EINTR {
                lose()
            }
        }
        if isGone { waiting = [] }
        watch(!waiting.isEmpty)
    }

    /// Drops the buffer, which cannot be written now, for example because the disk is full.
    private func lose() {
        let lines = isPicture ? 0 : waiting.count { $0 == 10 }
        // Do not count the line about left-out lines itself, but the lines that it reports.
        leftOut += telling.bytes > 0 ? max(0, lines - 1) + telling.lines : lines
        telling = (0, 0)
        waiting = []
    }

    private func watch(_ isWanted: Bool) {
        guard isWanted != isRegistered else { return }
        if isWanted {
            // If epoll does not accept the descriptor, the next line will try again.
            isRegistered = (try? loop.register(descriptor, .writable, self)) != nil
        } else {
            loop.deregister(descriptor)
            isRegistered = false
        }
    }
}
