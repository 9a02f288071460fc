import Testing

@testable import TomboloServer

@Suite struct LineSplitterTests {
    /// All lines of a text that comes in pieces of a length; a line too long is "…".
    private func lines(
        _ text: String, piece: Int, max: Int = 64, form: EventForm = .lines
    ) -> [String] {
        var splitter = LineSplitter(lineBytesMax: max, form: form)
        var lines: [String] = []
        func add(_ line: LineSplitter.Line) {
            switch line {
            case .line(let bytes, let number):
                lines.append("\(number):" + String(decoding: bytes, as: UTF8.self))
            case .tooLong(let number): lines.append("\(number):…")
            case .broken(_, let number): lines.append("\(number):!")
            }
        }
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            splitter.append(Array(rest.prefix(piece)))
            rest = rest.dropFirst(piece)
            while let line = splitter.next() { add(line) }
        }
        if let line = splitter.last() { add(line) }
        return lines
    }

    @Test(arguments: [1, 2, 3, 7, 100])
    func `lines are the same however the bytes come`(piece: Int) {
        #expect(lines("a\nbc\r\n\n \t\nd", piece: piece) == ["1:a", "2:bc", "5:d"])
        #expect(lines("a\n", piece: piece) == ["1:a"])
        #expect(lines("\n\n", piece: piece) == [])
        #expect(lines("", piece: piece) == [])
    }

    @Test(arguments: [1, 3, 100])
    func `a line at its limit is taken, and one byte more is passed over`(piece: Int) {
        #expect(lines("12345\nx", piece: piece, max: 5) == ["1:12345", "2:x"])
        #expect(lines("12345\r\nx", piece: piece, max: 5) == ["1:12345", "2:x"])
        #expect(lines("123456\nx", piece: piece, max: 5) == ["1:…", "2:x"])
        #expect(lines("x\n1234567890", piece: piece, max: 5) == ["1:x", "2:…"])
        #expect(
            lines("1234567890\n1234567890\ny\n", piece: piece, max: 5) == ["1:…", "2:…", "3:y"])
    }

    @Test(arguments: [1, 2, 3, 7, 100])
    func `elements of an array are lines, however the bytes come`(piece: Int) {
        func elements(_ text: String) -> [String] {
            lines(text, piece: piece, max: 12, form: .cloudEventBatch)
        }
        #expect(elements(" [ ]\n") == [])
        #expect(elements("[1]") == ["1:1"])
        #expect(
            elements(#"[{"a":[1,2]},"],\"[",{}]"#) == [#"1:{"a":[1,2]}"#, #"2:"],\"[""#, "3:{}"])
        #expect(elements("[\n{\n},\r\n[]\n]\n") == ["1:{ }", "2:[]"])
        // What is no array, or no whole one, ends the lines; what is between commas is no JSON.
        #expect(elements("[1,,2]") == ["1:1", "2:,", "3:2"])
        #expect(elements("[1, ]") == ["1:1", "2:,"])
        // White space between elements counts against no limit.
        let space = String(repeating: " \n", count: 40)
        #expect(elements("[\(space)1\(space),\(space)2\(space)]") == ["1:1", "2:2"])
        #expect(elements("[\(space)]") == [])
        #expect(elements("[1],2") == ["1:1", "2:!"])
        #expect(elements("[1,2") == ["1:1", "2:!"])
        #expect(elements(#"["a"#) == ["1:!"])
        #expect(elements("{}") == ["1:!"])
        #expect(elements("") == ["1:!"])
        #expect(elements("[}]") == ["1:}"])
        #expect(elements("[\"a\nb\"]") == ["1:\"a\u{1}b\""])
        #expect(elements("[123456789012,1234567890123,1]") == ["1:123456789012", "2:…", "3:1"])
    }

    @Test func `an endless line takes no more memory than one line`() {
        var splitter = LineSplitter(lineBytesMax: 10)
        for _ in 0..<1_000 {
            splitter.append([UInt8](repeating: 0x61, count: 10))
            #expect(splitter.next() == nil)
            #expect(splitter.bytesHeld <= 22)
        }
    }
}
