import Glibc
import Testing
import TomboloCore
import TomboloJSON

@testable import TomboloProgram

/// A relay that has a bad day: three apps, two Apples, and phones that never answer.
final class WhyBench {
    /// "Why did `device` not show this version, or what was said at this moment?"
    struct Question: Sendable {
        var activity: String
        var device: String
        /// A version, or a time; nil: the newest version.
        var asked: String?
    }

    /// All is well with it.
    static let app = "com.example.app"
    /// Apple does not know it under this name.
    static let misspelt = "com.example.ap"
    /// Its Apple goes away.
    static let lonely = "com.example.lonely"

    let directory: TemporaryDirectory
    private let data: String
    private let apple: ChildProcess
    private let control: String
    private var lonelyApple: ChildProcess
    private let lonelyPort: String
    private let key: String
    private(set) var relay: RunningRelay

    init() throws {
        let directory = try TemporaryDirectory()
        try directory.pushKey("key.p8")
        let port = try Self.freePort()
        apple = try Self.apple(directory, port: "0", app: Self.app, authority: "ca.pem")
        lonelyApple = try Self.apple(
            directory, port: port, app: Self.lonely, authority: "lonely.pem")
        let ready = try json(try apple.line(within: 30))
        _ = try lonelyApple.line(within: 30)
        let url = ready["simulator"]?.string ?? ""
        control = ready["control"]?.string ?? ""
        data = "\(directory.path)/data"
        mkdir(data, 0o700)
        let apps = [
            (Self.app, url, "ca.pem"), (Self.misspelt, url, "ca.pem"),
            (Self.lonely, "https://127.0.0.1:\(port)", "lonely.pem"),
        ].map { id, url, authority in
            """
            {"id":"\(id)","team_id":"TEAM123456","key_id":"ABC123DEFG","key_file":"key.p8",
            "environment":"sandbox","endpoint":"\(url)","ca_file":"\(authority)"}
            """
        }
        let configuration = try directory.write(
            "tombolo.json",
            """
            {"data":"data","apps":[\(apps.joined(separator: ","))],
            "budgets":{"standard":{"low_priority_spacing":"10m"}}}
            """)
        key = try RunningRelay.mintKey(data)
        relay = try Self.start(data, key, configuration)
        self.directory = directory
        lonelyPort = port
    }

    private static func apple(
        _ directory: TemporaryDirectory, port: String, app: String, authority: String
    ) throws -> ChildProcess {
        try ChildProcess([
            "sim", "--listen", "127.0.0.1:\(port)", "--phones", "0",
            "--key-file", "\(directory.path)/key.p8", "--key-id", "ABC123DEFG",
            "--team-id", "TEAM123456", "--topic", app,
            "--ca-out", "\(directory.path)/\(authority)", "--accept-any-token",
            "--control", "127.0.0.1:0",
        ])
    }

    private static func start(
        _ data: String, _ key: String, _ configuration: String, later: String? = nil
    ) throws -> RunningRelay {
        try RunningRelay(
            serve: data, key: key, arguments: ["--config", configuration],
            environment: later.map(TruthBench.clock(later:)) ?? [:])
    }

    /// A port that was free a moment ago: an Apple that comes back is where it was.
    private static func freePort() throws -> String {
        let result = try Shell.run(
            "python3", "-c",
            "import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); print(s.getsockname()[1])"
        )
        return String(result.output.prefix { $0.isNumber })
    }

    // MARK: What happens

    func request(
        _ method: String, _ path: String, _ body: String = "", wait: Int = 1
    ) throws {
        var words = [
            "curl", "-s", "-X", method, "-H", "Authorization: Bearer \(key)", "-H",
            "Prefer: wait=\(wait)", "-w", "\n%{http_code}",
        ]
        if !body.isEmpty { words += ["-d", body] }
        let output = try Shell.run(words + [relay.api + path]).output
        let status = output.split(separator: "\n").last
        try #require(status?.hasPrefix("2") == true, "\(path): \(output)")
    }

    /// A token of this phone alone: one that comes at another phone leaves the first.
    static func token(_ beginning: String, of phone: String) -> String {
        beginning + phone.utf8.map { String($0, radix: 16) }.joined()
    }

    /// A phone with these tokens.
    func phone(
        _ name: String, app: String = app, budget: String = "lab", user: String? = nil,
        tokens: [String: String] = [:]
    ) throws {
        let device = "/v1/devices/\(name)"
        let of = user.map { ",\"user\":\"\($0)\"" } ?? ""
        try request("PUT", device, "{\"app\":\"\(app)\",\"budget_class\":\"\(budget)\"\(of)}")
        for (name, value) in tokens.sorted(by: { $0.key < $1.key }) {
            try request("PUT", "\(device)/tokens/\(name)", "{\"token\":\"\(value)\"}")
        }
    }

    /// A phone `NAME` with the running card `NAME-card`, whose version is 1.
    func card(
        _ name: String, app: String = app, budget: String = "lab", user: String? = nil,
        token: String = "cc"
    ) throws {
        try phone(
            name, app: app, budget: budget, user: user,
            tokens: [
                "start:Runner": Self.token("bb", of: name),
                "activity:\(name)-card": Self.token(token, of: name),
            ])
        try begin(name, app: app, user: user)
    }

    /// The activity `NAME-card` starts for the phone `NAME`, or for a user.
    func begin(_ name: String, app: String = app, user: String? = nil) throws {
        let audience = user.map { "{\"user\":\"\($0)\"}" } ?? "{\"device\":\"\(name)\"}"
        try request(
            "PUT", "/v1/activities/\(name)-card",
            "{\"type\":\"Runner\",\"app\":\"\(app)\",\"audience\":\(audience),"
                + "\"state\":{\"lap\":0},\"alert\":{\"title\":\"Go\"}}", wait: 5)
    }

    func update(
        _ name: String, lap: Int, _ urgency: String = "high", wait: Int = 1, more: String = ""
    ) throws {
        try request(
            "PATCH", "/v1/activities/\(name)-card",
            "{\"state\":{\"lap\":\(lap)},\"urgency\":\"\(urgency)\"\(more)}", wait: wait)
    }

    func end(_ name: String) throws {
        try request("POST", "/v1/activities/\(name)-card/end", "{}")
    }

    /// A time after all that has happened, as `why` takes it.
    ///
    /// The relay follows the machine's clock only forwards: where a time server has just taken the
    /// clock back, the relay's times are later than the machine's. The wait is longer than that.
    func moment() throws -> String {
        _ = try Shell.run("sleep", "0.3")
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        let now = Instant(seconds: Int64(time.tv_sec)) + Span(nanoseconds: Int64(time.tv_nsec))
        return now.rfc3339
    }

    func fault(_ rule: String) throws {
        let put = try Shell.run(
            "curl", "-sf", "-X", "PUT", "--data-binary", rule, control + "/v1/faults")
        try #require(put.status == 0, "\(put.output)\(put.errors)")
    }

    /// The Apple of `lonely` goes away.
    func appleGoes() throws {
        lonelyApple.signal(SIGKILL)
        _ = try lonelyApple.finish(within: 10)
    }

    /// It is there again. A relay that starts after it trusts its new certificate.
    func appleComes() throws {
        lonelyApple = try Self.apple(
            directory, port: lonelyPort, app: Self.lonely, authority: "lonely.pem")
        _ = try lonelyApple.line(within: 30)
    }

    func stopRelay() throws { try #require(try relay.terminate() == 0) }
    func killRelay() throws { try relay.kill() }
    /// - Parameter later: how far the machine's clocks are ahead by then, as faketime(1) reads it.
    func startRelay(later: String? = nil) throws {
        relay = try Self.start(data, key, "\(directory.path)/tombolo.json", later: later)
    }

    // MARK: Why

    /// What an operator reads at a shell.
    func why(_ question: Question, _ more: String...) throws -> Tombolo.Result {
        let words = [question.activity, question.device] + (question.asked.map { [$0] } ?? [])
        return try relay.tombolo(["why"] + words + more)
    }
}
