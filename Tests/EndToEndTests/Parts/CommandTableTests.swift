import Testing

@testable import TomboloProgram

/// What must hold for every row of the table.
@Suite struct CommandTableTests {
    private let commands = CommandTable.tombolo.commands

    @Test func `no command is there twice, and no flag twice in one`() {
        #expect(Set(commands.map(\.name)).count == commands.count)
        for command in commands {
            #expect(Set(command.flags.map(\.name)).count == command.flags.count, "\(command.name)")
            let shorts = command.flags.compactMap(\.short)
            #expect(Set(shorts).count == shorts.count, "\(command.name)")
        }
    }

    @Test func `every default is a value of its flag's kind`() {
        for flag in commands.flatMap(\.flags) {
            guard let value = flag.defaultValue else { continue }
            #expect(flag.value?.objection(to: value) == nil, "--\(flag.name) \(value)")
        }
    }

    @Test func `every example that is a plain command line is understood`() throws {
        let parser = CommandLineParser(table: .tombolo, environment: [:])
        for example in commands.flatMap(\.examples) where example.hasPrefix("tombolo ") {
            let plain = example.allSatisfy { !"'\"|><$&".contains($0) }
            guard plain else { continue }
            let words = example.split(separator: " ").dropFirst().map(String.init)
            #expect(throws: Never.self, "\(example)") { try parser.parse(words) }
        }
    }

    @Test func `an optional argument is never followed by a needed one`() {
        for command in commands {
            let optionals = command.arguments.map(\.isOptional)
            #expect(optionals == optionals.sorted { !$0 && $1 }, "\(command.name)")
        }
    }

    @Test func `flag, environment and default stand above each other in this order`() throws {
        func relay(_ words: [String], _ environment: [String: String]) throws -> String? {
            let parser = CommandLineParser(table: .tombolo, environment: environment)
            guard case .run(_, let invocation) = try parser.parse(words) else { return nil }
            return invocation.text(.relay)
        }
        let variable = ["TOMBOLO_RELAY": "http://b:1"]
        #expect(try relay(["tail", "--relay", "http://a:1"], variable) == "http://a:1")
        #expect(try relay(["tail", "--relay=http://a:1"], variable) == "http://a:1")
        #expect(try relay(["tail"], variable) == "http://b:1")
        #expect(try relay(["tail"], ["TOMBOLO_RELAY": ""]) == "http://127.0.0.1:8780")
    }

    @Test(arguments: [
        ["-s", "a=1"], ["-sa=1"], ["-s=a=1"], ["--set", "a=1"], ["--set=a=1"],
    ])
    func `a short flag's value may stand behind it, attached or not`(_ words: [String]) throws {
        let parser = CommandLineParser(table: .tombolo, environment: [:])
        guard case .run(_, let invocation) = try parser.parse(["update", "x"] + words) else {
            throw TestFailure("no command")
        }
        let pairs = invocation.pairs(.field)
        #expect(pairs.map(\.name) == ["a"])
        #expect(pairs.map(\.value) == ["1"])
    }

    @Test func `after two dashes nothing is a flag`() throws {
        let parser = CommandLineParser(table: .tombolo, environment: [:])
        guard case .run(_, let invocation) = try parser.parse(["update", "--", "--odd"]) else {
            throw TestFailure("no command")
        }
        #expect(invocation.arguments == ["--odd"])
    }
}
