import TestSupport
import TomboloLoop

/// What curl, a program that this relay did not write, got for an answer.
struct CurlAnswer: Sendable {
    let status: Int
    /// Names in lower case.
    let fields: [String: String]
    let body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }
    var lines: [String] { text.split(separator: "\n").map(String.init) }

    /// Takes the last of the answers that `curl -i` prints (a 100 comes before it).
    init?(output: [UInt8]) {
        var rest = output[...]
        var head: [Substring] = []
        repeat {
            guard let end = Self.endOfHead(rest) else { return nil }
            head = Substring(decoding: rest[..<end], as: UTF8.self).split(separator: "\r\n")
            rest = rest[(end + 4)...]
        } while head[0].contains(" 100")
        guard let code = head[0].split(separator: " ").dropFirst().first.flatMap({ Int($0) })
        else { return nil }
        status = code
        var fields: [String: String] = [:]
        for line in head.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            fields[line[..<colon].lowercased()] = String(value)
        }
        self.fields = fields
        body = Array(rest)
    }

    private static func endOfHead(_ bytes: ArraySlice<UInt8>) -> Int? {
        let mark = Array("\r\n\r\n".utf8)
        guard bytes.count >= 4 else { return nil }
        return (bytes.startIndex...(bytes.endIndex - 4)).first {
            bytes[$0..<($0 + 4)].elementsEqual(mark)
        }
    }
}

/// One run of curl, which prints the head too; what it writes to stderr comes with it.
struct Curl {
    struct Failure: Error {
        let what: String
    }

    private let output: SubprocessOutput

    init(_ arguments: [String], on loop: EpollLoop) throws {
        output = try SubprocessOutput(
            "curl", ["-sS", "-i", "--max-time", "120"] + arguments, on: loop)
    }

    var collected: [UInt8] { output.collected }
    var hasEnded: Bool { output.hasEnded }

    /// Ends it at once.
    func end() { output.end() }

    /// Waits until `condition` holds of what has come, or nothing more comes.
    @discardableResult
    func wait(until condition: (String) -> Bool = { _ in false }) async -> String {
        await output.wait(until: condition)
    }
}
