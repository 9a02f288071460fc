import Glibc
import Testing

@testable import TomboloSimulator

@Suite struct KeptFileTests {
    @Test func `a file is absent, then as written, then replaced`() throws {
        let directory = try SimulatorBench.temporaryDirectory()
        let file = KeptFile(path: directory + "/seed")
        defer { for name in ["/seed", ""] { remove(directory + name) } }
        #expect(try file.read() == nil)
        let long = [UInt8](repeating: 7, count: 10_000)
        try file.write(long, mode: 0o600)
        #expect(try file.read() == long)
        try file.write([1], mode: 0o600)
        #expect(try file.read() == [1])
    }

    @Test func `what cannot be read or written is said, with its path`() {
        let file = KeptFile(path: "/proc/tombolo/none")
        #expect(throws: SimulatorError.self) { try file.write([1], mode: 0o600) }
        let error = #expect(throws: SimulatorError.self) {
            try KeptFile(path: "/proc/self").read()
        }
        #expect(error?.description.hasPrefix("/proc/self cannot be read") == true)
        #expect(throws: SimulatorError.self) { try KeptFile(path: "/dev/zero").read() }
    }
}
