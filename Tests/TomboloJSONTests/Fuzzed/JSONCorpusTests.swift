import Glibc
import Testing

/// Of texts: what the fuzzer kept, and every find of it, once more.
@Suite struct JSONCorpusTests {
    @Test
    func `every input that was kept is taken without a trap`() throws {
        let inputs = try corpus("json")
        try #require(inputs.count >= 2, "the corpus is gone")
        for input in inputs { fuzzJSON(input) }
    }

    /// The files beside this one.
    private func corpus(_ name: String, file: String = #filePath) throws -> [[UInt8]] {
        let here = file.split(separator: "/").dropLast().reduce(into: "") { $0 += "/\($1)" }
        let folder = "\(here)/Corpus/\(name)"
        let directory = try #require(opendir(folder), "\(folder)")
        defer { closedir(directory) }
        var inputs: [[UInt8]] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard !name.hasPrefix(".") else { continue }
            let file = try #require(fopen("\(folder)/\(name)", "r"))
            defer { fclose(file) }
            var bytes = [UInt8](repeating: 0, count: 1 << 16)
            let count = fread(&bytes, 1, bytes.count, file)
            inputs.append(Array(bytes.prefix(count)))
        }
        return inputs
    }
}
