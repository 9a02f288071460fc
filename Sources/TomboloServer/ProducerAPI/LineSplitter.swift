/// Splits a stream of bytes into lines, with memory for one line and one piece.
///
/// A line ends with LF; a CR before it is removed. Blank lines are skipped but counted. In the text
/// of an array, each element counts as a line.
struct LineSplitter {
    enum Line: Hashable, Sendable {
        /// `number` counts from 1.
        case line([UInt8], number: Int)
        /// The line is longer than allowed; its bytes were skipped.
        case tooLong(number: Int)
        /// The body is not a JSON array as it must be; no more lines follow.
        case broken(String, number: Int)
    }

    private let lineBytesMax: Int
    private var buffer: [UInt8] = []
    /// Index in `buffer` of the next line.
    private var start = 0
    /// The buffer has no LF before this index.
    private var searched = 0
    private var number = 0
    /// True if the present line is already too long.
    private var isPassingOver = false
    private var elements: ElementLines?

    /// - Parameters:
    ///   - lineBytesMax: most bytes of a line without its end.
    ///   - form: lines, or elements of an array.
    init(lineBytesMax: Int, form: EventForm = .lines) {
        self.lineBytesMax = lineBytesMax
        elements = form == .lines ? nil : ElementLines()
    }

    var bytesHeld: Int { buffer.count }
    /// Number of lines so far, including blank ones.
    var linesRead: Int { number }

    mutating func append(_ piece: [UInt8]) {
        buffer.removeFirst(start)
        searched -= start
        start = 0
        buffer += elements?.lines(of: piece) ?? piece
    }

    /// The next complete line, or nil until more bytes come.
    mutating func next() -> Line? {
        while let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
            let bytes = buffer[start..<end]
            start = end + 1
            searched = start
            if let line = line(bytes) { return line }
        }
        searched = buffer.count
        if isPassingOver || searched - start > lineBytesMax + 1 {
            // Drop the bytes of the too long line; only its end matters.
            isPassingOver = true
            start = searched
        }
        return nil
    }

    /// The last line, if the stream did not end with LF.
    mutating func last() -> Line? {
        defer { start = buffer.count }
        if let fault = elements?.fault {
            (elements, isPassingOver, number) = (nil, false, number + 1)
            return .broken(fault, number: number)
        }
        return start < buffer.count || isPassingOver ? line(buffer[start...]) : nil
    }

    private mutating func line(_ bytes: ArraySlice<UInt8>) -> Line? {
        number += 1
        let isTooLong = isPassingOver
        isPassingOver = false
        var bytes = bytes
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        if isTooLong || bytes.count > lineBytesMax { return .tooLong(number: number) }
        if bytes.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }) { return nil }
        return .line(Array(bytes), number: number)
    }
}
