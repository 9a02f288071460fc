import Glibc
import Testing
import TomboloJSON

@testable import TomboloProgram

/// Every n-th call of the sweep is struck; 1 strikes all.
private let step = getenv("TOMBOLO_SWEEP_STEP").flatMap { Int(String(cString: $0)) } ?? 9

/// Whether strace may trace here: it is not there everywhere, nor allowed everywhere.
private let canTrace = system("strace -o /dev/null true >/dev/null 2>&1") == 0

/// The real program, struck by `strace` at each system call with which it appends and checkpoints:
/// killed there, or told of an I/O error. What it acknowledged is there afterwards, and the next
/// start goes on.
@Suite(.enabled(if: canTrace, "strace cannot trace here")) struct LogSweepTests {
    private static let calls = ["pwrite64", "fdatasync", "ftruncate", "pread64", "unlink"]

    private let work: TemporaryDirectory

    init() throws { work = try TemporaryDirectory() }

    private static func append(_ data: String, _ count: Int) -> [String] {
        [
            "append", "--data", data, "--count", "\(count)", "--batch", "10",
            "--activities", "5", "--ids", "--acknowledged", "-o", "json",
        ]
    }

    /// Runs a line of the shell; answers what it wrote on stdout.
    private func shell(_ line: String) throws -> String {
        let pipe = try #require(popen(line, "r"))
        defer { pclose(pipe) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&piece, 1, piece.count, pipe), count > 0 {
            bytes += piece[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// How often a run makes each call.
    private func count(_ call: String) throws -> Int {
        let (data, trace) = ("\(work.path)/count", "\(work.path)/trace")
        let line = ([Tombolo.bench] + Self.append(data, 60)).joined(separator: " ")
        _ = try shell("rm -rf \(data); strace -f -o \(trace) -e trace=\(call) \(line) 2>&1")
        return try shell("grep -c '\(call)(' \(trace) || true").split(separator: "\n").first
            .flatMap { Int($0) } ?? 0
    }

    /// Strikes the `place`-th call, then starts again and reads everything.
    private func strike(_ call: String, _ place: Int, _ fault: String) throws {
        let data = "\(work.path)/data"
        let line = ([Tombolo.bench] + Self.append(data, 60)).joined(separator: " ")
        let inject = "inject=\(call):\(fault):when=\(place)"
        let output = try shell(
            "rm -rf \(data); strace -f -o /dev/null -e trace=\(call) -e \(inject) \(line) 2>&1")
        let acknowledged = output.split(separator: "\n").compactMap { Int64($0) }.last ?? 0
        let again = try Tombolo.run(Self.append(data, 10), program: Tombolo.bench)
        #expect(again.status == 0, "\(inject): \(again.errors)")
        let verified = try Tombolo.run(["log", "verify", "--data", data, "-o", "json"])
        #expect(verified.status == 0, "\(inject): \(verified.output)")
        let verdict = try json(verified.output)
        let last = (verdict["last_seq"]?.integer ?? 0) - 10
        #expect(last >= acknowledged, "\(inject): \(last) of \(acknowledged)")
        #expect(last <= acknowledged + 10, "\(inject): at most the batch in flight is there too")
    }

    @Test(arguments: calls, ["signal=KILL", "error=EIO"])
    func `struck at any call, nothing acknowledged is lost`(call: String, fault: String) throws {
        let count = try count(call)
        try #require(count > 0, "\(call): strace counted nothing, and nothing would be struck")
        for place in stride(from: 1, through: count, by: step) {
            try strike(call, place, fault)
        }
    }
}
