import Glibc
import TomboloJSON
import TomboloLoop

/// Lines for those who read stdout or stderr, without ever waiting for them: a relay must not stand
/// still because a terminal is stopped or a script has read the first line and no more.
///
/// What is not taken waits in a bounded buffer; beyond it lines are left out, and once there is
/// room again a line says how many. So it is where a disk is full: what it does not take is lost,
/// and later lines are tried. Files and sockets are written to directly. On the loop only.
final class LineOutput: ReadinessTarget, @unchecked Sendable {
    // Sendable: used on the loop's thread only.

    private let descriptor: Int32
    private let ownsDescriptor: Bool
    private let loop: EpollLoop
    private var waiting: [UInt8] = []
    private var leftOut = 0
    /// Of the line about what was left out, which begins `waiting`: its bytes, and its count.
    private var telling = (bytes: 0, lines: 0)
    /// A part of a line is out, and its rest is lost.
    private var isCut = false
    /// `waiting` is a picture.
    private var isPicture = false
    private let leftOutLine: (Int) -> [UInt8]
    private var isRegistered = false
    private var isGone = false

    /// A reader who is behind by more than this has stopped reading.
    static let waitingBytesMax = 256 << 10

    /// - Parameter leftOutLine: what is written in the place of so many lines.
    init(
        loop: EpollLoop, descriptor wanted: Int32 = 1,
        leftOutLine: @escaping (Int) -> [UInt8] = LineOutput.leftOut
    ) {
        self.loop = loop
        self.leftOutLine = leftOutLine
        var status = stat()
        let kind = fstat(wanted, &status) == 0 ? status.st_mode & S_IFMT : 0
        // Opened anew, so that not to wait is this process's choice alone: the shell shares the old
        // one. A file opened anew would be written from its start.
        let opened =
            kind == S_IFIFO || kind == S_IFCHR
            ? open("/proc/self/fd/\(wanted)", O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY) : -1
        ownsDescriptor = opened >= 0
        descriptor = ownsDescriptor ? opened : wanted
    }

    /// `{"left_out":N}`.
    static func leftOut(_ count: Int) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("left_out", count)
        writer.endObject()
        return writer.bytes
    }

    deinit {
        if ownsDescriptor { close(descriptor) }
    }

    /// Takes a line, without its line break.
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

    /// Takes a whole picture, which is left out where the one before is not through.
    func draw(_ text: String) {
        guard waiting.isEmpty else { return }
        waiting = Array(text.utf8)
        isPicture = true
        flush()
    }

    func becameReady(_ readiness: Readiness) { flush() }

    /// No more is written after this; what still waits is tried once more.
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

    /// What waits cannot be written now, as on a full disk.
    private func lose() {
        let lines = isPicture ? 0 : waiting.count { $0 == 10 }
        // The line that counts others is no line of its own.
        leftOut += telling.bytes > 0 ? max(0, lines - 1) + telling.lines : lines
        telling = (0, 0)
        waiting = []
    }

    private func watch(_ isWanted: Bool) {
        guard isWanted != isRegistered else { return }
        if isWanted {
            // Where epoll does not take it, the next line tries again.
            isRegistered = (try? loop.register(descriptor, .writable, self)) != nil
        } else {
            loop.deregister(descriptor)
            isRegistered = false
        }
    }
}
