import Glibc
import TestSupport
import Testing
import TomboloJSON

@testable import TomboloProgram

/// Lines for a disk that is full for a while.
@Suite(.serialized) struct LineOutputTests {
    /// A file that can be exchanged for a full disk under the same descriptor.
    private struct Disk {
        let directory: TemporaryDirectory
        let descriptor: Int32
        private let kept: Int32

        init() throws {
            directory = try TemporaryDirectory()
            descriptor = open("\(directory.path)/log", O_CREAT | O_RDWR | O_APPEND, 0o600)
            kept = dup(descriptor)
            guard descriptor >= 0, kept >= 0 else { throw TestFailure("no file: \(errno)") }
        }

        func fill() throws {
            let full = open("/dev/full", O_WRONLY)
            guard full >= 0, dup2(full, descriptor) >= 0 else { throw TestFailure("no full disk") }
            Glibc.close(full)
        }

        func makeRoom() throws {
            guard dup2(kept, descriptor) >= 0 else { throw TestFailure("no room: \(errno)") }
        }

        func lines() throws -> [String] {
            let bytes = try FileBytes.read("\(directory.path)/log")
            return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        }

        func close() {
            Glibc.close(descriptor)
            Glibc.close(kept)
        }
    }

    @Test func `what a full disk does not take is counted, and told once there is room`()
        async throws
    {
        try await onLoop { loop in
            let disk = try Disk()
            defer { disk.close() }
            let output = LineOutput(loop: loop, descriptor: disk.descriptor)
            output.write(line: Array("one".utf8))
            for round in 1...2 {
                try disk.fill()
                for _ in 0..<3 { output.write(line: Array("lost".utf8)) }
                try disk.makeRoom()
                output.write(line: Array("round \(round)".utf8))
            }
            #expect(
                try disk.lines() == [
                    "one", #"{"left_out":3}"#, "round 1", #"{"left_out":3}"#, "round 2",
                ])
            output.end()
        }
    }

    @Test func `a reader who has gone is written to no more`() async throws {
        try await onLoop { loop in
            var ends: [Int32] = [-1, -1]
            #expect(pipe(&ends) == 0)
            signal(SIGPIPE, SIG_IGN)
            let output = LineOutput(loop: loop, descriptor: ends[1])
            Glibc.close(ends[0])
            output.write(line: Array("one".utf8))
            output.write(line: Array("two".utf8))
            output.end()
            Glibc.close(ends[1])
        }
    }
}
