import TomboloLoop

/// The input of `append` in whole lines. On the loop only.
final class AppendLines: @unchecked Sendable {
    // Sendable: used on the loop's thread only.

    private let input: InputReader
    private let loop: EpollLoop
    /// What stands behind the last line break.
    private var rest: [UInt8] = []
    private var isAtEnd = false

    /// Lines that come faster than this belong to one request.
    static let pause = Duration.milliseconds(100)
    /// What has no line break within this is no event.
    static let lineBytesMax = 1 << 20

    init(_ input: InputReader, loop: EpollLoop) {
        self.input = input
        self.loop = loop
    }

    /// The next lines, however long they take; nil at the end.
    func first() async throws -> [UInt8]? { try await next(until: nil) }

    /// More lines, if they come soon; nil at a pause, and at the end.
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
