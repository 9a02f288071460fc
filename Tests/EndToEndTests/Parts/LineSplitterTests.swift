import Testing

@testable import TomboloProgram

@Suite struct LineSplitterTests {
    @Test func `lines are the same however their bytes arrive`() throws {
        let text = Array("one\n\nthree\nfo".utf8)
        for size in 1...text.count {
            var splitter = LineSplitter()
            var lines: [String] = []
            for start in stride(from: 0, to: text.count, by: size) {
                let piece = Array(text[start..<min(start + size, text.count)])
                lines += try splitter.lines(in: piece).map { String(decoding: $0, as: UTF8.self) }
            }
            #expect(lines == ["one", "", "three"])
        }
    }

    @Test func `a line at the limit is taken, one past it is refused`() throws {
        var splitter = LineSplitter(bytesMax: 4)
        #expect(try splitter.lines(in: Array("1234".utf8)).isEmpty)
        #expect(try splitter.lines(in: [10]).count == 1)
        #expect(throws: ProgramError.self) { try splitter.lines(in: Array("12345".utf8)) }
    }
}
