/// Splits a stream of bytes into lines, with limited memory.
struct LineSplitter: Sendable {
    private var rest: [UInt8] = []
    private let bytesMax: Int

    /// - Parameter bytesMax: maximum length of a line in bytes.
    init(bytesMax: Int = 1 << 20) { self.bytesMax = bytesMax }

    /// The lines that `piece` completes, without their line breaks. Throws if a line is too long.
    mutating func lines(in piece: [UInt8]) throws(ProgramError) -> [ArraySlice<UInt8>] {
        rest += piece
        guard let end = rest.lastIndex(of: 10) else {
            guard rest.count <= bytesMax else {
                throw ProgramError("a line of more than \(bytesMax) bytes")
            }
            return []
        }
        let lines = rest[..<end].split(separator: 10, omittingEmptySubsequences: false)
        rest.removeFirst(end + 1)
        return lines
    }

    /// The bytes after the last line break.
    var unfinished: [UInt8] { rest }
}
