import Glibc
import Testing

@testable import tombolo

/// `config check` and `config show` on real files.
@Suite struct ConfigurationTests {
    private static func check(_ text: String) throws -> Tombolo.Result {
        let directory = try TemporaryDirectory()
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
        ("{\"apps\": [\(app), \"ca_file\": \"ca.pem\"}]}", "stands without endpoint"),
        (
            "{\"budgets\": {\"lab\": {\"per_hour\": 0.001, \"burst\": 1000000}}}",
            "budgets.lab.burst: must not be above 87"
        ),
        ("{\"tls\": {\"certificate\": \"a.pem\"}}", "tls.key: is missing"),
        ("{\"listen\": \"0.0.0.0:1\"}", "can be reached from other machines and has no tls"),
        ("{\"listen\": \"[::]:1\"}", "can be reached from other machines and has no tls"),
        ("{\"apps\": [\(app)}]}", "AuthKey.p8 cannot be read"),
    ])
    func `a fault is told with its place and its remedy`(_ text: String, _ expected: String) throws
    {
        let result = try Self.check(text)
        #expect(result.status == 2)
        #expect(result.errors.contains(expected))
    }

    @Test(arguments: [
        "{}", "{\"listen\": \"127.255.255.254:0\"}", "{\"listen\": \"[::1]:65535\"}",
        "{\"listen\": \"0.0.0.0:1\", \"insecure\": true}",
        "{\"budgets\": {\"lab\": {\"burst\": 1, \"reserve\": 0, \"per_hour\": null}}} // end",
        "{\"budgets\": {\"lab\": {\"reserve\": 20, \"spacing\": \"24h\"}}}",
        "{\"budgets\": {\"lab\": {\"per_hour\": 0.001, \"burst\": 87}}}",
    ])
    func `what is in order is said to be`(_ text: String) throws {
        let result = try Self.check(text)
        #expect(result.status == 0)
        #expect(result.output.contains("is in order"))
    }

    @Test func `a push key must be one, and nobody else's to read`() throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write("tombolo.json", "{\"apps\": [\(Self.app)}]}")
        let key = try directory.write("AuthKey.p8", "no key")
        #expect(try Tombolo.run("config", "check", path).errors.contains("is no push key"))
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

    @Test func `what show prints is a configuration that means the same`() throws {
        let directory = try TemporaryDirectory()
        let shown = try Tombolo.run("config", "show").output
        let path = try directory.write("tombolo.json", shown)
        #expect(try Tombolo.run("config", "show", path).output == shown)
    }
}
