import Testing
import TomboloCore
import TomboloJSON

@testable import TomboloProgram

/// The command line as somebody meets it who makes mistakes. The real program, no relay.
@Suite struct CommandLineTests {
    @Test func `help lists every command and every exit code`() throws {
        let result = try Tombolo.run("help")
        #expect(result.status == 0)
        for word in ["dev", "serve", "sim", "trigger", "append", "tail", "log ls", "key mint"] {
            #expect(result.output.contains("\n  \(word)"), "\(word)")
        }
        for code in Array(0...7) + [141] {
            #expect(result.output.contains("\n  \(code)  "), "\(code)")
        }
    }

    @Test(arguments: [
        ("serv", "did you mean serve?"), ("serve --lsten x", "did you mean --listen?"),
        ("serve -listen x", "did you mean --listen?"), ("log lss", "did you mean ls?"),
        ("log", "log needs one of ls, show"), ("trigger runer", "did you mean runner?"),
        ("trigger runner --for 5", "write 500ms, 5s, 10m or 2h"),
        ("start", "start needs ID"), ("update a b", "takes no argument b"),
        ("tail --relay relay.example", "is not an origin: it has no scheme"),
        ("update a lap=2", "try: -s lap=2"), ("update lap=2", "without its flag -s"),
        (#"update a --state {"lap":2}"#, "try: -s NAME=VALUE for each member"),
        (#"lint {"lap":2}"#, "the name of a file is asked for"),
        ("tail --relay", "--relay needs a value: ORIGIN"), ("tail --limit 0", "from 1 to"),
        ("tail --limit 1 --limit 2", "given twice"), ("append --quiet=yes", "takes no value"),
        ("--relay http://x log ls", "flags come after"), ("update a -s nothing", "NAME=VALUE"),
        ("start cat-7", "needs --type"), ("end", "needs an ID, or --type"),
        ("end cat-7 --type T", "not both"), ("start a --type T --device d --user u", "exclude"),
        ("start a --type T --alert-body x", "needs --alert-title"),
        ("update a -s x=1 -s x=2", "given twice"), ("clip stop a image", "JSON Pointer"),
        ("timeline reload any", "needs --device or --user"),
        ("why --apns-id zz", "zz is not a UUID"),
        ("activity diff a 3", "not two versions"), ("activity diff a 0..3", "not two versions"),
        ("activity diff a 1..2..3", "not two versions"),
        ("activity show a --at noon", "neither a version nor a time"),
        ("control reload lock --device d --user u", "not both"),
        ("send cat-7", "did you mean start or update?"), ("delete cat-7", "did you mean end?"),
        ("list", "did you mean activity ls?"), ("status", "did you mean doctor?"),
        ("health", "did you mean ready?"), ("unpause", "did you mean resume?"),
        ("config update", "did you mean reload?"),
        ("init", "did you mean config init?"), ("logs", "did you mean log ls?"),
        ("key create", "did you mean mint?"), ("key delete k", "did you mean rm?"),
        ("device list", "did you mean ls?"),
    ])
    func `a wrong command line says what is wrong and how to correct it, and exits with 2`(
        _ line: String, _ expected: String
    ) throws {
        let result = try Tombolo.run(line.split(separator: " ").map(String.init))
        #expect(result.status == 2)
        #expect(result.output.isEmpty)
        #expect(result.errors.contains(expected))
        #expect(result.errors.contains("\n  try: "))
    }

    @Test func `where JSON is asked for, an error is one object on stderr`() throws {
        for words in [["tail", "--lmit", "1", "-o", "json"], ["tail", "-ojsonl", "--lmit", "1"]] {
            let result = try Tombolo.run(words)
            let error = try json(result.errors)
            #expect(error["error"]?.string == "unknown flag --lmit; did you mean --limit?")
            #expect(error["try"]?.string == "tombolo help tail")
            #expect(error["status"]?.integer == 2 && result.status == 2)
        }
    }

    @Test func `what other tools call a command is none of ours, and leads to one that is`() {
        let table = CommandTable.tombolo
        for (words, commands) in Suggestion.otherCommands {
            #expect(words.allSatisfy { !table.firstWords.contains($0) }, "\(words)")
            for command in commands {
                let path = command.split(separator: " ").map(String.init)
                #expect(table.command(beginning: path)?.path == path, "\(command)")
            }
        }
        let members = Set(table.commands.compactMap { $0.path.dropFirst().first })
        for (_, commands) in Suggestion.otherMembers {
            #expect(commands.allSatisfy(members.contains), "\(commands)")
        }
    }

    @Test func `no guess by letters leads to a command that ends, erases or deletes`() {
        let table = CommandTable.tombolo
        for command in table.commands where takesAway(command.name) {
            let word = command.path.last ?? ""
            for place in word.indices {
                var typed = word
                typed.remove(at: place)
                let group = command.path.count > 1 ? command.path[0] : nil
                let all = group.map(table.members) ?? table.firstWords
                let words = Suggestion.correction(typed, of: group, among: all)
                #expect(!words.contains("mean \(word)?"), "\(typed): \(words)")
            }
        }
        let known = table.commands.filter { $0.path[0] != "phone" }.filter { command in
            ["End ", "Erase ", "Delete ", "Stop "].contains { command.summary.hasPrefix($0) }
        }
        for command in known {
            #expect(takesAway(command.name) || takesAway(command.path[0]), "\(command.name)")
        }
    }

    @Test(arguments: ["help", "help --man", "config doc", "completion bash"])
    func `a reader that has gone ends the program without a word`(_ line: String) throws {
        // The reader of this pipe has ended before the program begins.
        let script = "exec 3> >(exit 0); wait $!; \(Tombolo.path) \(line) >&3; echo $?"
        let result = try Shell.run("bash", "-c", script)
        #expect(result.output == "141\n", "\(result.output)")
        #expect(result.errors.isEmpty, "\(result.errors)")
    }

    @Test func `a wrong variable is named with its fix, and a flag stands above it`() throws {
        let wrong = ["TOMBOLO_RELAY": "nowhere"]
        let result = try Tombolo.run(["tail"], environment: wrong)
        #expect(result.status == 2)
        #expect(result.errors.contains("TOMBOLO_RELAY=nowhere is not an origin"))
        #expect(result.errors.contains("unset TOMBOLO_RELAY"))
        let mended = try Tombolo.run(["tail", "--relay", "http://127.0.0.1:1"], environment: wrong)
        #expect(mended.status == 5)
        for (variable, value, words) in [
            ("TOMBOLO_RELAY", "http://127.0.0.1:1\n", "has a line end; write http://127.0.0.1:1"),
            ("TOMBOLO_RELAY", "127.0.0.1:1", "try: export TOMBOLO_RELAY=http://127.0.0.1:1"),
            ("TOMBOLO_KEY", "Bearer tmb_live_x", "give the key alone"),
            ("TOMBOLO_KEY", "tmb_live_x y", "has a space or a line end in it"),
        ] {
            let result = try Tombolo.run(["tail"], environment: [variable: value])
            #expect(result.status == 2 && result.errors.contains(words), "\(result.errors)")
        }
    }

    @Test func `a secret's file that is not there is a wrong command line`() throws {
        let result = try Tombolo.run(
            ["tail"], environment: ["TOMBOLO_KEY_FILE": "/nonexistent/key"])
        #expect(result.status == 2)
        #expect(result.errors.contains("TOMBOLO_KEY_FILE=/nonexistent/key cannot be read"))
    }

    @Test(arguments: [
        "start a --type T -s x=1", "update a -s x=1", "end a", "append -", "tail", "log ls",
        "log show 1", "activity ls", "activity show a", "device show d", "trigger runner",
        "delivery retry dlv_1", "clip stop a", "timeline reload any --user u",
        "control reload lock --device d", "upstream retry a", "requests --kind slow",
        "search cat",
    ])
    func `where nobody listens, every client command exits with 5`(_ line: String) throws {
        let words = line.split(separator: " ").map(String.init)
        let result = try Tombolo.run(words + ["--relay", "http://127.0.0.1:1"])
        #expect(result.status == 5)
        #expect(result.errors.contains("no relay at http://127.0.0.1:1"))
    }

    @Test func `a bench of pushes exits with 5 where nobody listens`() throws {
        let result = try Tombolo.run(
            ["push", "--endpoint", "https://127.0.0.1:1"], program: Tombolo.bench)
        #expect(result.status == 5)
        #expect(result.errors.contains("takes no connection"))
    }

    @Test func `help of a command tells its flags with defaults and variables`() throws {
        let result = try Tombolo.run("tail", "--help")
        #expect(result.status == 0)
        #expect(result.output.contains("(default http://127.0.0.1:8780) [TOMBOLO_RELAY]"))
        #expect(result.output.contains("[TOMBOLO_KEY, TOMBOLO_KEY_FILE]"))
        #expect(try Tombolo.run("help", "tail").output == result.output)
    }

    @Test(arguments: ["bash", "zsh"])
    func `completions know every flag of every command`(_ shell: String) throws {
        let script = try Tombolo.run("completion", shell).output
        for flag in ["--idempotency-key", "--accept-any-token", "--origin", "--alert-title"] {
            #expect(script.contains(flag))
        }
    }

    @Test func `the manual page has every command and flag, and man reads it without a warning`()
        throws
    {
        let page = try Tombolo.run("help", "--man")
        #expect(page.status == 0 && page.output.hasPrefix(".TH TOMBOLO 1 "))
        for command in CommandTable.tombolo.commands {
            let name = "\n.SS tombolo \(command.name)".replacing("-", with: "\\-")
            #expect(page.output.contains(name), "\(command.name)")
            for flag in command.flags {
                let flag = "--\(flag.name)".replacing("-", with: "\\-")
                #expect(page.output.contains(flag), "\(command.name) \(flag)")
            }
        }
        // What a line begins with is a request: only those that are meant.
        let known = [".TH", ".SH", ".SS", ".TP", ".PP", ".B", ".nf", ".fi", ".RS", ".RE"]
        for line in page.output.split(separator: "\n") where line.hasPrefix(".") {
            #expect(known.contains(String(line.prefix { $0 != " " })), "\(line)")
        }
    }
}
