import Glibc
import Testing

/// What the fuzzer kept, and every find of it, once more.
@Suite struct `The fuzzer's corpus` {
    @Test(arguments: ["http1", "client", "server"])
    func `every input that was kept is taken without a trap`(name: String) throws {
        let inputs = try corpus(name)
        try #require(inputs.count >= 4, "the corpus of \(name) is gone")
        for input in inputs {
            switch name {
            case "http1": fuzzHTTP1(input)
            case "client": fuzzClient(input)
            default: fuzzServer(input)
            }
        }
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
