import TomboloLoop

/// Splits the input of `append` into whole lines. Used on the loop only.
final class AppendLines: @unchecked Sendable {
    // Sendable: used on the loop's thread only.

    private let input: InputReader
    private let loop: EpollLoop
    /// Bytes after the last line break.
    private var rest: [UInt8] = []
    private var isAtEnd = false

    /// Lines belong to one request if the pause between them is shorter.
    static let pause = Duration.milliseconds(100)
    /// Maximum length of a line in bytes. A longer line cannot be an event.
    static let lineBytesMax = 1 << 20

    init(_ input: InputReader, loop: EpollLoop) {
        self.input = input
        self.loop = loop
    }

    /// The next lines, however long they take. Nil at the end of the input.
    func first() async throws -> [UInt8]? { try await next(until: nil) }

    /// More lines if they come within `pause`; nil if none come or the input ends.
    func more() async throws -> [UInt8]? { try await next(until: loop.now + Self.pause) }

    private func next(until deadline: MonotonicInstant?) async throws -> [UInt8]? {
        while !isAtEnd {
            switch try await input.next(until: deadline) {
            case .pause: return nil
            case .end: isAtEnd = true
            case .bytes(let bytes):
                rest += bytes
                guard let end = rest.lastIndex(of: 10) else {
                    guard rest.count <= Self.lineBytesMax else {
                        throw ProgramError("a line of more than \(Self.lineBytesMax) bytes")
                    }
                    continue
                }
                let lines = Array(rest[...end])
                rest.removeFirst(lines.count)
                return lines
            }
        }
        guard !rest.isEmpty else { return nil }
        defer { rest = [] }
        return rest + [10]
    }
}
