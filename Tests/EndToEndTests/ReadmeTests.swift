import Testing

@testable import tombolo

/// Every block marked `sh` in a README is run as somebody pastes it, beside `tombolo dev`: with the
/// program on the `PATH`, and the address and the key of the relay in the environment. Blocks
/// marked `console` are set-up, and are run by hand.
@Suite struct ReadmeTests {
    private static let pages = ["README.md", "Protocol/README.md", "deploy/README.md"]
    private static let root =
        "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")

    /// The blocks of a page, in their order: later ones go on where the earlier ones left off.
    private static func blocks(_ page: String) throws -> [String] {
        let text = String(decoding: try FileBytes.read("\(root)/\(page)"), as: UTF8.self)
        var blocks: [String] = []
        var block: [Substring]?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line == "```sh" {
                block = []
            } else if line == "```", let lines = block {
                blocks.append(lines.joined(separator: "\n"))
                block = nil
            } else {
                block?.append(line)
            }
        }
        return blocks
    }

    @Test(arguments: pages) func `every command of a page works as it is pasted`(
        page: String
    ) throws {
        let blocks = try Self.blocks(page)
        try #require(!blocks.isEmpty, "the page has no block marked sh")
        let relay = try RunningRelay(dev: [])
        let folder = try TemporaryDirectory()
        let program = Tombolo.path.split(separator: "/").dropLast().joined(separator: "/")
        let script = """
            set -euo pipefail
            cd '\(folder.path)'
            export PATH="/\(program):$PATH"
            \(blocks.joined(separator: "\n"))
            """
        let shell = try ChildProcess(
            ["-c", script], environment: relay.environment, program: "/bin/bash")
        shell.closeInput()
        let result = try shell.finish(within: 60)
        #expect(result.status == 0, "\(result.output)\n\(result.errors)")
        #expect(try relay.terminate() == 0)
    }

    /// A mistyped flag does not start the demo.
    @Test func `the demo says what it takes, and refuses what it does not know`() throws {
        let run = "\(Self.root)/deploy/run"
        let help = try Shell.run(run, "--help")
        #expect(help.status == 0)
        #expect(help.output.contains("TOMBOLO_LISTEN"))
        for wrong in [["--fro", "10s"], ["--for"], ["radial"]] {
            let refused = try Shell.run([run] + wrong)
            #expect(refused.status == 2, "\(wrong)")
            #expect(refused.output.isEmpty)
            #expect(refused.errors.contains("run: "), "\(wrong)")
        }
    }
}
