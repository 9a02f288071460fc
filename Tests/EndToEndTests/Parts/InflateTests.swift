import Testing

@testable import tombolo

/// Streams that Python's zlib made, of each kind of block.
@Suite struct InflateTests {
    private static let text = Array(String(repeating: "The cat runs. ", count: 20).utf8)

    /// Compresses the text above, or all bytes nine times over.
    private static func stream(_ kind: String) throws -> [UInt8] {
        let program = """
            import sys, zlib
            text = b'The cat runs. ' * 20 if sys.argv[1] != 'random' else bytes(range(256)) * 9
            level, strategy = {'stored': (0, 0), 'fixed': (9, 4)}.get(sys.argv[1], (9, 0))
            c = zlib.compressobj(level, 8, 15, 8, strategy)
            print((c.compress(text) + c.flush()).hex())
            """
        let result = try Shell.run("python3", "-c", program, kind)
        let digits = Array(result.output.utf8.dropLast())
        return stride(from: 0, to: digits.count, by: 2).map { index in
            UInt8(String(decoding: digits[index..<index + 2], as: UTF8.self), radix: 16) ?? 0
        }
    }

    @Test(arguments: ["stored", "fixed", "dynamic"])
    func `what zlib packs is unpacked`(_ kind: String) throws {
        #expect(Inflate.zlib(try Self.stream(kind), limit: 1_000) == Self.text)
    }

    @Test func `far distances and all bytes are unpacked`() throws {
        let bytes = (0..<9).flatMap { _ in (0...255).map(UInt8.init) }
        #expect(Inflate.zlib(try Self.stream("random"), limit: bytes.count) == bytes)
    }

    @Test func `a stream at the limit is unpacked, one past it is refused`() throws {
        let stream = try Self.stream("dynamic")
        #expect(Inflate.zlib(stream, limit: Self.text.count) != nil)
        #expect(Inflate.zlib(stream, limit: Self.text.count - 1) == nil)
    }

    @Test func `a cut stream, a changed byte and a wrong checksum are refused`() throws {
        let stream = try Self.stream("fixed")
        for count in stream.indices {
            #expect(Inflate.zlib(Array(stream[..<count]), limit: 999) == nil)
        }
        for index in stream.indices {
            var damaged = stream
            damaged[index] ^= 0x21
            let found = Inflate.zlib(damaged, limit: 999)
            let isHarmless = found == nil || found == Self.text
            #expect(isHarmless)
        }
    }
}
