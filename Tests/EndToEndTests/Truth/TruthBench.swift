import Glibc
import Testing
import TomboloJSON

@testable import tombolo

/// A relay with one app, the simulator as its Apple, a phone and a running card; and everybody who
/// may be asked how the relay is.
final class TruthBench {
    let directory: TemporaryDirectory
    let data: String
    let simulator: ChildProcess
    private(set) var relay: RunningRelay!
    private let url: String
    private let control: String
    private let key: String
    private var errors: [String] = []
    private var isTLS = false

    init(_ row: TruthRow) throws {
        directory = try TemporaryDirectory()
        try directory.pushKey("key.p8")
        simulator = try ChildProcess([
            "sim", "--listen", "127.0.0.1:0", "--phones", "0",
            "--key-file", "\(directory.path)/key.p8", "--key-id", "ABC123DEFG",
            "--team-id", "TEAM123456", "--topic", "com.example.app",
            "--ca-out", "\(directory.path)/ca.pem", "--accept-any-token",
            "--control", "127.0.0.1:0",
        ])
        let ready = try JSONDocument(Array(try simulator.line(within: 30).utf8)).root
        url = ready["simulator"]?.string ?? ""
        control = ready["control"]?.string ?? ""
        data = "\(directory.path)/data"
        mkdir(data, 0o700)
        key = try RunningRelay.mintKey(data)
        isTLS = row.certificate != nil
        if let clock = row.certificate { try directory.certificate("tls", days: 30, at: clock) }
        try configure(withApp: row.hasApp)
        try start()
        if row.hasApp { try prepare() }
    }

    private var configuration: String { "\(directory.path)/tombolo.json" }

    private func configure(withApp: Bool) throws {
        let app = """
            {"id":"com.example.app","team_id":"TEAM123456","key_id":"ABC123DEFG",
            "key_file":"key.p8","environment":"sandbox","endpoint":"\(url)","ca_file":"ca.pem"}
            """
        let tls = isTLS ? #""tls":{"certificate":"tls.pem","key":"tls.key"},"# : ""
        try directory.write(
            "tombolo.json",
            """
            {"listen":"127.0.0.1:\(try Self.freePort())","data":"data",\(tls)
            "apps":[\(withApp ? app : "")]}
            """)
    }

    /// A port that was free a moment ago: doctor has to find the relay by its configuration.
    private static func freePort() throws -> String {
        let result = try Shell.run(
            "python3", "-c",
            "import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); print(s.getsockname()[1])"
        )
        return String(result.output.prefix { $0.isNumber })
    }

    func start() throws {
        let address = try Tombolo.run("config", "show", configuration, "-o", "json").output
        let listen = try JSONDocument(Array(address.utf8)).root["listen"]?.string ?? ""
        relay = try RunningRelay(
            serve: data, key: key, listen: listen, arguments: ["--config", configuration])
    }

    /// A phone that can start a `Runner`, and the running card `cat`.
    private func prepare() throws {
        let device = "/v1/devices/phone"
        try put(device, #"{"app":"com.example.app","user":"u42","budget_class":"lab"}"#)
        try put("\(device)/tokens/start:Runner", #"{"token":"ccdd"}"#)
        try put("\(device)/tokens/activity:cat", #"{"token":"aabb"}"#)
        try put("/v1/types/Runner", #"{"state":{"properties":{"lap":{"type":"integer"}}}}"#)
        try put(
            "/v1/activities/cat",
            #"{"type":"Runner","audience":{"device":"phone"},"state":{"lap":0}}"#, wait: true)
    }

    private func put(_ path: String, _ body: String, wait: Bool = false) throws {
        let answer = try request("PUT", path, body, prefer: wait ? "wait=5" : "wait=1")
        try #require((200..<300).contains(answer.status), "\(path): \(answer.body)")
    }

    // MARK: Who is asked

    func request(
        _ method: String, _ path: String, _ body: String = "", prefer: String? = nil
    ) throws -> (status: Int, body: String) {
        var words = [
            "curl", "-sk", "-X", method, "-H", "Authorization: Bearer \(key)", "-w",
            "\n%{http_code}",
        ]
        if let prefer { words += ["-H", "Prefer: \(prefer)"] }
        if !body.isEmpty { words += ["-d", body] }
        let output = try Shell.run(words + [relay.api + path]).output
        let lines = output.split(separator: "\n", omittingEmptySubsequences: false)
        return (Int(lines.last ?? "") ?? 0, lines.dropLast().joined(separator: "\n"))
    }

    func command(_ words: [String]) throws -> Tombolo.Result {
        var environment = relay.environment
        if isTLS { environment["TOMBOLO_CA"] = "\(directory.path)/tls.pem" }
        return try Tombolo.run(words, environment: environment)
    }

    func doctor() throws -> Tombolo.Result {
        try Tombolo.run("doctor", configuration, "-o", "table")
    }

    /// Waits for a line on the relay's stderr, of those that nobody has read yet.
    func errorLine(containing text: String) throws -> Bool {
        for _ in 0..<20 {
            if errors.contains(where: { $0.contains(text) }) { return true }
            // None comes: that is the answer.
            guard let line = try? relay.process.errorLine(within: 20) else { return false }
            errors.append(line)
        }
        return errors.contains { $0.contains(text) }
    }

    // MARK: What goes wrong

    func fault(_ rule: String) throws {
        let put = try Shell.run(
            "curl", "-sf", "-X", "PUT", "--data-binary", rule, control + "/v1/faults")
        try #require(put.status == 0, "\(put.output)\(put.errors)")
    }

    /// Updates until Apple's refusal, or silence, is known.
    func pushUntilParked() throws {
        for lap in 1...8 {
            let update = try relay.tombolo(
                "update", "cat", "-s", "lap=\(lap)", "--urgency", "high", "--wait", "3s")
            try #require(update.status == 0, "\(update.errors)")
            if try request("GET", "/metrics").body.contains("tombolo_apps_waiting 1") { return }
        }
    }

    func killSimulator() throws {
        simulator.signal(SIGKILL)
        _ = try simulator.finish(within: 10)
    }

    /// The phone says that its user has swiped the card away.
    func swipe() throws {
        try put("/v1/devices/phone/activities/cat", #"{"phase":"dismissed","by":"user"}"#)
    }
}
