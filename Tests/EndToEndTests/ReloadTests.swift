import Glibc
import Testing
import TomboloJSON

@testable import TomboloProgram

/// `config reload` and `config init`.
@Suite(.serialized) struct ReloadTests {
    private let directory: TemporaryDirectory
    private let file: String

    init() throws {
        directory = try TemporaryDirectory()
        file = "\(directory.path)/tombolo.json"
        for name in ["one", "two"] { try directory.pushKey("\(name).p8") }
    }

    /// An app whose Apple is not there: a port that nobody listens on.
    private func write(key: String = "one", more: String = "") throws {
        try directory.write(
            "tombolo.json",
            """
            {\(more)"apps":[{"id":"com.example.app","team_id":"TEAM123456","key_id":"ABC123DEFG",
            "key_file":"\(key).p8","environment":"sandbox","endpoint":"https://127.0.0.1:1"}]}
            """)
    }

    private func start(key: String? = nil) throws -> RunningRelay {
        try RunningRelay(serve: directory.path, key: key, arguments: ["--config", file])
    }

    private func lines(_ result: Tombolo.Result) throws -> [JSONView] {
        try json(result.output)["lines"].map { Array($0.elements) } ?? []
    }

    @Test func `a reload tells line by line what is applied, what a restart applies, and what not`()
        throws
    {
        try write()
        let relay = try start()
        let same = try relay.tombolo("config", "reload", "-o", "table")
        #expect(same.status == 0)
        #expect(same.output.contains("applied   the configuration is read again: nothing"))

        try write(more: #""limits":{"history":"96h"},"insecure":true,"#)
        let restart = try relay.tombolo("config", "reload", "-o", "json")
        #expect(restart.status == 7, "\(restart.errors)")
        let answers = try lines(restart)
        #expect(answers.map { $0["result"]?.string } == ["needs_restart", "needs_restart"])
        #expect(restart.output.contains("limits.history differs from what the relay runs with"))

        try write(key: "two")
        let tried = try relay.tombolo("config", "reload", "--dry-run", "-o", "json")
        #expect(tried.output.contains(#""dry_run":true"#))
        #expect(tried.output.contains("key ABC123DEFG would be proved"), "\(tried.output)")

        try write(key: "three")
        let refused = try relay.tombolo("config", "reload", "-o", "table")
        #expect(refused.status == 1)
        #expect(
            refused.output.contains("refused   app com.example.app: key ABC123DEFG stays in use"))
        #expect(refused.output.contains("\n  try: ls -l "), "\(refused.output)")

        try directory.write("tombolo.json", "{")
        let broken = try relay.tombolo("config", "reload", "-o", "json")
        #expect(try lines(broken).map { $0["result"]?.string } == ["refused"])
        #expect(broken.output.contains("nothing is changed: "))
        // The operator's log has the same lines, but for the one that was only tried.
        relay.process.signal(SIGTERM)
        let log = try relay.process.finish(within: RunningRelay.stopTime).errors
        #expect(log.contains(" info    config-applied: the configuration is read again"))
        #expect(log.contains(" warning config-needs-restart: limits.history differs"))
        #expect(log.contains(" error   config-refused: app com.example.app: key ABC123DEFG stays"))
        #expect(!log.contains("would be proved"))
    }

    @Test func `a pipe in the place of a file is refused, and the relay goes on`() throws {
        try write()
        let relay = try start()
        try #require(unlink(file) == 0 && mkfifo(file, 0o600) == 0)
        for more in [[], ["--dry-run"]] {
            let refused = try relay.tombolo(["config", "reload", "-o", "table"] + more)
            #expect(refused.output.contains("is no regular file"), "\(refused)")
        }
        try #require(unlink(file) == 0)
        try write(key: "pipe")
        try #require(mkfifo("\(directory.path)/pipe.p8", 0o600) == 0)
        let refused = try relay.tombolo("config", "reload", "-o", "table")
        #expect(refused.output.contains("key ABC123DEFG stays in use"), "\(refused)")
        #expect(refused.output.contains("is no regular file"))
        #expect(try Tombolo.run("config", "check", file).status != 0)
        #expect(try relay.terminate() == 0)
    }

    @Test func `a dry run tells of each app apart`() throws {
        func write(_ keys: [String]) throws {
            let apps = keys.indices.map { index in
                #"{"id":"com.example.app\#(index)","team_id":"TEAM123456","key_id":"ABC123DEFG","#
                    + #""key_file":"\#(keys[index]).p8","environment":"sandbox","#
                    + #""endpoint":"https://127.0.0.1:1"}"#
            }
            try directory.write("tombolo.json", #"{"apps":[\#(apps.joined(separator: ","))]}"#)
        }
        try write(["one", "one"])
        let relay = try start()
        try write(["none", "two"])
        let tried = try relay.tombolo("config", "reload", "--dry-run", "-o", "json")
        let answers = try lines(tried)
        #expect(answers.map { $0["result"]?.string } == ["refused", "applied"], "\(tried.output)")
        let messages = answers.map { $0["message"]?.string ?? "" }
        #expect(messages.first?.contains("app com.example.app0: key") == true)
        #expect(messages.last?.contains("app com.example.app1: key") == true)
        #expect(try relay.terminate() == 0)
    }

    @Test func `a body that a reload does not know is refused`() throws {
        try write()
        let relay = try start()
        for (body, status) in [
            (#"{"dry_run":true}"#, "422"), ("nonsense", "400"), ("{}", "200"), ("", "200"),
        ] {
            let answer = try Shell.run(
                "curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "-H",
                "Authorization: Bearer \(relay.key)", "-d", body,
                relay.api + "/v1/configuration/reload")
            #expect(answer.output == status, "\(body)")
        }
        #expect(try relay.terminate() == 0)
    }

    @Test(arguments: [
        (["--listen", "0.0.0.0:8780"], "--tls-certificate FILE"),
        (["--team-id", "TEAM123456"], "--team-id needs --app"),
        (["--key-file", "one.p8"], "--key-file needs --app"),
        (["--environment", "sandbox"], "--environment needs --app"),
        (["--tls-key", "tls.key"], "--tls-key needs --tls-certificate"),
        (["--tls-certificate", "tls.pem"], "--tls-certificate needs --tls-key"),
    ])
    func `init refuses what makes no file that check takes`(_ words: [String], _ says: String)
        throws
    {
        let path = "\(directory.path)/made.json"
        let refused = try Tombolo.run(["config", "init", path] + words)
        #expect(refused.status == 2, "\(refused)")
        #expect(refused.errors.contains(says), "\(refused.errors)")
        #expect(access(path, F_OK) != 0)
    }

    @Test func `a key of another tenant, or one that may not operate, reloads nothing`() throws {
        try write()
        let key = try RunningRelay.mintKey(directory.path)
        let other = try Tombolo.run(
            "key", "mint", "--scope", "all", "--tenant", "other", "--data", directory.path, "-o",
            "json")
        let strange = try json(other.output)["key"]?.string ?? ""
        let relay = try start(key: key)
        for words in [["config", "reload"], ["config", "reload", "--dry-run"]] {
            let refused = try Tombolo.run(
                words, environment: ["TOMBOLO_RELAY": relay.api, "TOMBOLO_KEY": strange])
            #expect(refused.status == 4, "\(refused.output)\(refused.errors)")
            #expect(refused.errors.contains("key of the tenant main"))
        }
        #expect(try relay.terminate() == 0)
    }

    @Test func `init writes a file that check and serve take, and leaves one that is there`() throws
    {
        let words = [
            "config", "init", file, "--app", "com.example.app", "--team-id", "TEAM123456",
            "--key-id", "ABC123DEFG", "--key-file", "\(directory.path)/one.p8", "--environment",
            "sandbox", "--data", "\(directory.path)/data", "--listen", "127.0.0.1:0",
        ]
        let made = try Tombolo.run(words)
        #expect(made.status == 0, "\(made.errors)")
        #expect(made.errors.contains("tombolo config check \(file)"))
        let checked = try Tombolo.run("config", "check", file)
        #expect(checked.status == 0, "\(checked.errors)")
        let again = try Tombolo.run(words)
        #expect(again.status == 3)
        #expect(again.errors.contains("is there already, and is left as it is"))
        let key = try RunningRelay.mintKey("\(directory.path)/data")
        let relay = try ChildProcess(["serve", "--config", file])
        #expect(try relay.line(within: 30).contains(#""ready":true"#))
        relay.signal(SIGTERM)
        #expect(try relay.finish(within: 40).status == 0)
        #expect(key.hasPrefix("tmb_live_"))
    }

    @Test func `all that init comments out is the default, and can be read once it is no comment`()
        throws
    {
        let text = try Tombolo.run("config", "init", "-", "--data", "d").output
        let plain = try Tombolo.run("config", "show", try directory.write("plain.json", text))
            .output
        let path = try directory.write("none.json", #"{"data":"d"}"#)
        let standard = try Tombolo.run("config", "show", path).output
        // Relative paths begin at the file.
        #expect(plain == standard)
        // Every line that is a member behind a comment, one by one and all at once.
        func uncommented(_ line: Substring) -> String? {
            let words = line.drop { $0 == " " }
            guard words.hasPrefix("// "), let mark = words.dropFirst(3).first else { return nil }
            let rest = String(words.dropFirst(3))
            let isMember = mark == "\"" && rest.hasSuffix(",")
            return isMember && !rest.contains("ca_file") && !rest.contains("endpoint") ? rest : nil
        }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let members = lines.indices.filter { uncommented(lines[$0]) != nil }
        #expect(members.count > 20)
        let inApps = lines.firstIndex { $0.contains("\"apps\": [") } ?? lines.endIndex
        let outside = members.filter { $0 < inApps }
        for chosen in outside.map({ [$0] }) + [outside] {
            let changed = lines.indices.map { index in
                chosen.contains(index) ? uncommented(lines[index]) ?? "" : String(lines[index])
            }
            let file = try directory.write("changed.json", changed.joined(separator: "\n"))
            let tls = chosen.contains { lines[$0].contains("\"tls\"") }
            let shown = try Tombolo.run("config", "show", file)
            #expect(shown.status == 0, "\(chosen.map { lines[$0] }): \(shown.errors)")
            if !tls { #expect(shown.output == standard, "\(chosen.map { lines[$0] })") }
        }
        // `database` is in the place of `data`, which a first configuration has.
        for row in ConfigurationReference().rows where !row.key.hasPrefix("database.") {
            let name = row.key.split(separator: ".").last.map(String.init) ?? ""
            #expect(text.contains("\"\(name)\": "), "\(row.key)")
        }
    }
}
