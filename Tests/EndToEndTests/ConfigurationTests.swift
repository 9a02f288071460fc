import Glibc
import Testing
import TomboloCore
import TomboloJSON

@testable import TomboloProgram

/// `config check` and `config show` on real files.
@Suite struct ConfigurationTests {
    private static func check(_ text: String) throws -> Tombolo.Result {
        let directory = try TemporaryDirectory()
        try directory.pushKey("Good.p8")
        let path = try directory.write("tombolo.json", text)
        return try Tombolo.run("config", "check", path)
    }

    private static let app =
        "{\"id\":\"com.example.app\",\"team_id\":\"TEAM123456\",\"key_id\":\"ABC123DEFG\","
        + "\"key_file\":\"AuthKey.p8\""

    @Test(arguments: [
        (
            "{\n  \"lisen\": \"127.0.0.1:1\"\n}",
            ":2:3: lisen: unknown field; did you mean \"listen\"?"
        ),
        ("{\"listen\": \"nowhere\"}", ":1:2: listen: must be HOST:PORT"),
        ("{\"listen\": \"127.0.0.1:1\",}", ":1:26: "), ("[]", "must be a JSON object"),
        ("{ // a word\n \"data\": 5 }", ":2:2: data: must be a string"),
        ("{\"budgets\": {\"standrd\": {}}}", "did you mean \"standard\"?"),
        ("{\"budgets\": {\"lab\": {\"burst\": 0}}}", "burst: must be a whole number from 1"),
        ("{\"budgets\": {\"lab\": {\"reserve\": 21}}}", "must not be above burst, which is 20"),
        ("{\"budgets\": {\"lab\": {\"spacing\": \"25h\"}}}", "from 0s to 24h"),
        ("{\"apps\": [{\"id\": \"a\"}]}", "apps.0.team_id: is missing"),
        ("{\"apps\": [\(app)}, \(app)}]}", "is there already for production"),
        ("{\"apps\": [\(app), \"endpoint\": \"https://x/path\"}]}", "must be an origin"),
        ("{\"apps\": [\(app), \"ca_file\": \"ca.pem\"}]}", "needs endpoint"),
        (
            "{\"budgets\": {\"lab\": {\"per_hour\": 0.001, \"burst\": 1000000}}}",
            "budgets.lab.burst: must not be above 87"
        ),
        ("{\"tls\": {\"certificate\": \"a.pem\"}}", "tls.key: is missing"),
        ("{\"tls\": {\"cert\": \"a.pem\"}}", "unknown field; there are certificate, key"),
        ("{\"listen\": \"0.0.0.0:1\"}", "can be reached from other machines and has no tls"),
        ("{\"listen\": \"[::]:1\"}", "can be reached from other machines and has no tls"),
        ("{\"apps\": [\(app)}]}", "AuthKey.p8 cannot be read"),
        ("{\"apps\": [\(app)}]}", "in the developer account under Keys; a relative path begins at"),
    ])
    func `a fault is told with its place and its remedy`(_ text: String, _ expected: String) throws
    {
        let result = try Self.check(text)
        #expect(result.status == 2)
        #expect(result.errors.contains(expected))
    }

    private static let good = app.replacing("AuthKey", with: "Good") + "}"

    @Test(arguments: [
        "", "\"listen\": \"127.255.255.254:0\",", "\"listen\": \"[::1]:65535\",",
        "\"listen\": \"0.0.0.0:1\", \"insecure\": true,",
        "\"budgets\": {\"lab\": {\"burst\": 1, \"reserve\": 0, \"per_hour\": null}},",
        "\"budgets\": {\"lab\": {\"reserve\": 20, \"spacing\": \"24h\"}}, // a word\n",
        "\"budgets\": {\"lab\": {\"per_hour\": 0.001, \"burst\": 87}},",
    ])
    func `a configuration in order passes the check`(_ text: String) throws {
        let result = try Self.check("{\(text)\"data\": \"d\", \"apps\": [\(Self.good)]}")
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.contains("is in order"))
        #expect(result.errors.isEmpty)
    }

    @Test func `more than 256 apps are refused by their number`() throws {
        let apps = { (count: Int) in
            (0..<count).map {
                Self.good.replacing("com.example.app", with: "com.example.app\($0)")
            }.joined(separator: ",")
        }
        let most = try Self.check("{\"data\": \"d\", \"apps\": [\(apps(256))]}")
        #expect(most.status == 0, "\(most.errors)")
        let more = try Self.check("{\"data\": \"d\", \"apps\": [\(apps(257))]}")
        #expect(more.status == 2)
        #expect(more.errors.contains("apps: has 257 apps, and a relay serves at most 256"))
    }

    @Test func `without an app it is in order, and the notice says that nothing is pushed`() throws
    {
        let result = try Self.check("{\"data\": \"d\"}")
        #expect(result.status == 7)
        #expect(result.output.contains("is in order"))
        #expect(result.errors.contains("no app is configured: events are stored, and nothing is"))
        #expect(result.errors.contains("\n  try: "))
    }

    /// What `serve` would not start with; `tls` and `KEY` name files that are there.
    static let refused: [(String, String)] = [
        (#""team_id":"TEAM123456""#, #""team_id":"TEAM""#),
        (#""key_id":"ABC123DEFG""#, #""key_id":"abc123defg""#),
        (#""id":"com.example.app""#, #""id":"com.example.app.push-type.liveactivity""#),
        (#""id":"com.example.app""#, #""id":"com example""#),
        ("one.key", "two.key"), ("one.pem", "nonsense"), ("one.key", "nonsense"),
        ("one.pem", "missing.pem"), ("Good.p8", "nonsense"), ("Good.p8", "missing.p8"),
        (#""data":"d","#, ""), (#""data":"d""#, #""data":"nonsense""#),
        (#""data":"d""#, #""data":"not/there/d""#), ("127.0.0.1:0", "192.0.2.1:8780"),
        (#""environment":"sandbox""#, #""endpoint":"https://localhost:1","ca_file":"nonsense""#),
    ]

    @Test(arguments: refused.indices)
    func `serve refuses what config check refuses, in the same words`(_ index: Int) throws {
        let directory = try TemporaryDirectory()
        try directory.pushKey("Good.p8")
        try directory.certificate("one")
        try directory.certificate("two")
        try directory.write("nonsense", "nonsense")
        let whole = """
            {"listen":"127.0.0.1:0","data":"d","tls":{"certificate":"one.pem","key":"one.key"},
            "apps":[{"id":"com.example.app","team_id":"TEAM123456","key_id":"ABC123DEFG",
            "key_file":"Good.p8","environment":"sandbox"}]}
            """
        let (part, wrong) = Self.refused[index]
        let path = try directory.write("tombolo.json", whole)
        #expect(try Tombolo.run("config", "check", path).status == 0)
        try directory.write("tombolo.json", whole.replacing(part, with: wrong))
        let checked = try Tombolo.run("config", "check", path)
        #expect(checked.status == 2, "\(checked.output)")
        #expect(checked.errors.hasPrefix("tombolo: \(path)"), "\(checked.errors)")
        #expect(checked.errors.contains("\n  try: "))
        let served = try ChildProcess(["serve", "--config", path]).finish(within: 30)
        #expect(served.status == 2)
        #expect(served.errors == checked.errors)
    }

    @Test func `every fault is told at once, each with its own remedy`() throws {
        let result = try Self.check(
            #"{"apps":[{"id":"a b","team_id":"T","key_id":"K","key_file":"none.p8"}]}"#)
        for cause in ["there is no data directory", "team_id", "key_id", "bundle id", "none.p8"] {
            #expect(result.errors.contains(cause), "\(cause)")
        }
        #expect(result.errors.split(separator: "\n").count { $0.hasPrefix("  try: ") } == 5)
    }

    @Test func `credentials are looked at before the service's first start, where they are then`()
        throws
    {
        let directory = try TemporaryDirectory()
        let keys = "\(directory.path)/keys"
        mkdir(keys, 0o700)
        try directory.pushKey("keys/AuthKey.p8")
        let app = Self.app.replacing(
            "AuthKey.p8", with: "/run/credentials/tombolo.service/push_AuthKey.p8")
        let path = try directory.write("tombolo.json", "{\"data\": \"d\", \"apps\": [\(app)}]}")
        let early = try Tombolo.run("config", "check", path)
        #expect(early.status == 2)
        #expect(early.errors.contains("--credentials DIR"), "\(early.errors)")
        let found = try Tombolo.run("config", "check", "--credentials", keys, path)
        #expect(found.status == 0, "\(found.errors)")
    }

    @Test func `a push key must be one, and nobody else's to read`() throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write("tombolo.json", "{\"apps\": [\(Self.app)}]}")
        let key = try directory.write("AuthKey.p8", "no key")
        #expect(try Tombolo.run("config", "check", path).errors.contains("is not a push key"))
        chmod(key, 0o644)
        #expect(try Tombolo.run("config", "check", path).errors.contains("chmod 600 \(key)"))
    }

    @Test func `show tells each value and whether flag, environment, file or default set it`()
        throws
    {
        let directory = try TemporaryDirectory()
        let path = try directory.write(
            "tombolo.json", "{\"data\": \"there\", \"budgets\": {\"lab\": {\"burst\": 7}}}")
        let result = try Tombolo.run(
            ["config", "show", "--origin", "-o", "table", "--config", path, "--listen", "[::1]:9"],
            environment: ["TOMBOLO_LISTEN": "127.0.0.1:8", "NO_COLOR": "1"])
        let rows = result.output.split(separator: "\n").map { row in
            row.split(separator: " ").map(String.init)
        }
        #expect(rows.contains(["listen", "\"[::1]:9\"", "flag", "--listen"]))
        #expect(rows.contains(["data", "\"\(directory.path)/there\"", "\(path):1:2"]))
        #expect(rows.contains(["budgets.lab.burst", "7", "\(path):1:39"]))
        #expect(rows.contains(["budgets.standard.burst", "4", "default"]))
        let other = try Tombolo.run(
            ["config", "show", "--origin", "-o", "table"],
            environment: ["TOMBOLO_LISTEN": "127.0.0.1:8"])
        #expect(other.output.contains("environment TOMBOLO_LISTEN"))
    }

    @Test func `show tells every limit, those that are set and those that are not`() throws {
        let limits: [(String, String)] = [
            ("history", #""49h""#), ("facts", #""2h""#), ("fact_bytes", "67108865"),
            ("start_deadline", #""3m""#),
            ("probe_max", #""7m""#), ("min_rate", #""21s""#), ("connections_per_address", "11"),
            ("handshakes_per_second", "12"), ("requests_per_key", "13"), ("tails_per_key", "14"),
            ("refused_keys_per_second", "24"),
            ("activities", "18"), ("activities_per_tenant", "19"), ("ended_activities", "20"),
            ("cards", "21"), ("devices", "22"), ("devices_per_tenant", "23"),
            ("idempotency_keys", "25"), ("idempotency_keys_per_tenant", "26"),
            ("cards_per_tenant", "27"), ("keys_per_tenant", "28"),
            ("activities_per_user", "15"), ("cards_per_device", "16"), ("devices_per_user", "17"),
            ("destinations_per_key_per_second", "29"),
        ]
        let fields = limits.map { "\"\($0.0)\": \($0.1)" }.joined(separator: ", ")
        let directory = try TemporaryDirectory()
        let path = try directory.write("tombolo.json", "{\"limits\": {\(fields)}}")
        for (arguments, isSet) in [([path], true), ([], false)] {
            let shown = try Tombolo.run(["config", "show", "-o", "table"] + arguments).output
            let rows = shown.split(separator: "\n").map { row in
                row.split(separator: " ").map(String.init)
            }
            for (name, value) in limits {
                let row = rows.first { $0.first == "limits.\(name)" }
                #expect(row != nil, "\(name)")
                #expect((row?.last == value) == isSet, "\(name): \(row ?? [])")
            }
        }
    }

    @Test func `what show prints is a configuration that means the same`() throws {
        let directory = try TemporaryDirectory()
        let shown = try Tombolo.run("config", "show").output
        let path = try directory.write("tombolo.json", shown)
        #expect(try Tombolo.run("config", "show", path).output == shown)
    }

    @Test func `the page of operations has the reference that the program prints`() throws {
        let reference = try Tombolo.run("config", "doc", "-o", "table")
        #expect(reference.status == 0)
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let page = String(decoding: try FileBytes.read("/\(root)/deploy/README.md"), as: UTF8.self)
        #expect(page.contains(reference.output), "put the output of `config doc -o table` there")
        let documented = try Tombolo.run("config", "doc", "-o", "jsonl").output
        for row in Configuration(apps: [Configuration.App()]).rows {
            let name = row.pointer.split(separator: "/").last ?? ""
            #expect(documented.contains(".\(name)\"") || documented.contains("\"\(name)\""))
        }
    }

    @Test(arguments: Configuration.limitSettings.map(\.name))
    func `a limit takes the ends of its range, and nothing beyond them`(_ name: String) throws {
        let setting = try #require(Configuration.limitSettings.first { $0.name == name })
        func isTaken(_ value: String) throws -> Bool {
            let text = "{\"data\":\"d\",\"limits\":{\"\(name)\":\(value)}}"
            let document = try JSONDocument(Array(text.utf8))
            guard
                let read = try? Configuration(  // a refusal is what is asked for
                    reading: document.root, directory: ".")
            else { return false }
            return setting.value(of: read)?.description == value
        }
        switch setting.form {
        case .count(_, let range):
            for bound in [range.lowerBound, range.upperBound] { #expect(try isTaken("\(bound)")) }
            for beyond in [range.lowerBound - 1, range.upperBound + 1] {
                #expect(try !isTaken("\(beyond)"))
            }
        case .duration(_, let range):
            for bound in [range.lowerBound, range.upperBound] {
                #expect(try isTaken("\"\(bound.text)\""))
            }
            for beyond in [range.lowerBound.nanoseconds - 1, range.upperBound.nanoseconds + 1] {
                #expect(try !isTaken("\"\(Span(nanoseconds: beyond).text)\""))
            }
        default: Issue.record("\(name) is neither a count nor a duration")
        }
    }
}
