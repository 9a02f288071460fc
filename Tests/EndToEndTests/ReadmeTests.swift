import Glibc
import Testing
import TomboloCore

@testable import TomboloProgram

/// Every block marked `sh` in a README is run as somebody pastes it, beside `tombolo dev`: with the
/// program on the `PATH`, and the address and the key of the relay in the environment. Blocks
/// marked `console` are set-up, and are run by hand.
@Suite struct ReadmeTests {
    private static let pages = [
        "README.md", "Protocol/README.md", "Protocol/app.md", "deploy/README.md",
    ]
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

    /// What the table of the first page calls missing is mentioned nowhere else, as what is there
    /// would be: each entry with a word that a text about it has.
    @Test func `what the first page calls missing is not there`() throws {
        let page = String(decoding: try FileBytes.read("\(Self.root)/README.md"), as: UTF8.self)
        let manifest = try FileBytes.read("\(Self.root)/Package.swift")
        let lines = page.split(separator: "\n")
        let place = try #require(lines.firstIndex { $0.contains("| Not yet |") })
        let row = lines[place + 2].split(separator: "|")
        let missing = try #require(row.last { !$0.allSatisfy(\.isWhitespace) })
        let signs = [
            "Android": "Android",
            "one call that starts cards on more than 1,000 phones": "topic",
        ]
        let rest =
            lines.indices.filter { $0 != place + 2 }.map { lines[$0] }
            .joined(separator: "\n") + String(decoding: manifest, as: UTF8.self)
        let entries = missing.replacing(/, (?=[a-zA-Z])/, with: "|").split(separator: "|")
        for entry in entries {
            let text = entry.split(separator: " ").joined(separator: " ")
            let sign = try #require(signs[text], "add a sign of \(text)")
            #expect(!rest.contains(sign), "\(text): \(sign) is there")
        }
    }

    @Test func `each scope that a text names is one that a key can have`() throws {
        var texts = try (Self.pages + ["SECURITY.md"]).map {
            ($0, String(decoding: try FileBytes.read("\(Self.root)/\($0)"), as: UTF8.self))
        }
        for command in CommandTable.tombolo.commands {
            texts.append((command.name, HelpPage(table: .tombolo).text(for: command.path)))
        }
        let known = ["produce", "observe", "operate", "all", "device"]
        // "scope `observe`", "scopes produce, observe and operate", "--scope produce,observe".
        let lists = /scopes (`?[a-z]+`?(?:(?:, ?| and )`?[a-z]+`?)*)|scope (`?[a-z]+`?(?:,[a-z]+)*)/
        // Words that follow in a sentence.
        let others = ["of", "or", "opens", "are", "for", "and", "is", "that", "the"]
        for (name, text) in texts {
            for match in text.matches(of: lists) {
                let words = (match.1 ?? match.2 ?? "").split { !$0.isLetter }.map(String.init)
                for word in words where !others.contains(word) {
                    #expect(known.contains(word), "\(name): \(match.0)")
                }
            }
        }
    }

    @Test(arguments: pages) func `every command of a page works as it is pasted`(
        page: String
    ) throws {
        let blocks = try Self.blocks(page).filter { !$0.contains("tombolo sim ") }
        try #require(!blocks.isEmpty, "the page has no block marked sh")
        for block in blocks where block.contains("curl ") {
            #expect(
                block.ranges(of: "curl ").count == block.ranges(of: "curl --fail-with-body ").count,
                "a request that is refused fails its block: \(block)")
        }
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

    /// The block that starts a simulator and a relay, on other ports than its own.
    private static func without(apple ports: [String: UInt16]) throws -> String {
        let block = try #require(
            try Self.blocks("deploy/README.md").first { $0.contains("tombolo sim ") })
        return ports.reduce(block) { $0.replacing($1.key, with: "\($1.value)") }
    }

    private func shell(
        _ script: String, in folder: TemporaryDirectory, _ environment: [String: String] = [:]
    ) throws -> Tombolo.Result {
        let program = Tombolo.path.split(separator: "/").dropLast().joined(separator: "/")
        let shell = try ChildProcess(
            [
                "-c",
                """
                cd '\(folder.path)'
                export PATH="/\(program):$PATH"
                trap 'kill $(jobs -p) 2> /dev/null; wait' EXIT
                \(script)
                """,
            ], environment: environment, program: "/bin/bash")
        shell.closeInput()
        return try shell.finish(within: 90)
    }

    /// In a fresh terminal, and in one in which `dev` was tried: whose key fits no other relay.
    @Test(arguments: [[:], ["TOMBOLO_RELAY": "http://127.0.0.1:8780", "TOMBOLO_KEY": "tmb_dev_a"]])
    func `without an Apple account the block of the page comes to a card`(
        environment: [String: String]
    ) throws {
        let folder = try TemporaryDirectory()
        let (relay, simulator) = (try Listener(), try Listener())
        let block = try Self.without(apple: ["8790": relay.port, "8453": simulator.port])
        relay.close()
        simulator.close()
        let script = """
            \(block)
            tombolo doctor --config tombolo.json -o table
            """
        let result = try shell(script, in: folder, environment)
        #expect(result.status == 0, "\(result.output)\n\(result.errors)")
        #expect(result.output.contains(#""result":"accepted""#), "\(result.output)")
        #expect(!result.output.contains("failed"), "\(result.output)")
    }

    @Test func `where the simulator cannot start, the block comes to its end all the same`() throws
    {
        let folder = try TemporaryDirectory()
        let (relay, simulator) = (try Listener(), try Listener())
        defer { simulator.close() }
        let block = try Self.without(apple: ["8790": relay.port, "8453": simulator.port])
        relay.close()
        let result = try shell(block, in: folder)
        #expect(result.errors.contains("the simulator cannot listen"), "\(result.errors)")
    }

    /// A port that is taken while this lives.
    private struct Listener {
        let port: UInt16
        private let descriptor: Int32

        init() throws {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isBound = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, size) == 0 && listen(descriptor, 1) == 0
                        && getsockname(descriptor, $0, &size) == 0
                }
            }
            try #require(isBound)
            self.descriptor = descriptor
            port = UInt16(bigEndian: address.sin_port)
        }

        func close() { Glibc.close(descriptor) }
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
