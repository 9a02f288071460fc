import Glibc
import Testing
import TomboloJSON

@testable import TomboloProgram

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
    private let hasOwnClock: Bool
    private let isTimePassing: Bool
    private var drainer: ChildProcess?
    private(set) var isMounted = false

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
        let ready = try json(try simulator.line(within: 30))
        url = ready["simulator"]?.string ?? ""
        control = ready["control"]?.string ?? ""
        data = "\(directory.path)/data"
        mkdir(data, 0o700)
        if row.hasSmallDisk {
            isMounted =
                try Shell.run("mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", data)
                .status == 0
        }
        key = try RunningRelay.mintKey(data)
        (hasOwnClock, isTimePassing) = (row.hasOwnClock, row.isTimePassing)
        if hasOwnClock { try setClock("+0") }
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
        let listen = try json(address)["listen"]?.string ?? ""
        relay = try RunningRelay(
            serve: data, key: key, listen: listen, arguments: ["--config", configuration],
            environment: hasOwnClock ? fakeClock : [:])
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
            #"{"type":"Runner","audience":{"device":"phone"},"state":{"lap":0,"mark":"qqcatqq"}}"#,
            wait: true)
    }

    private func put(_ path: String, _ body: String, wait: Bool = false) throws {
        try send("PUT", path, body, wait: wait)
    }

    private func send(
        _ method: String, _ path: String, _ body: String, wait: Bool = true
    ) throws {
        let answer = try request(method, path, body, prefer: wait ? "wait=5" : "wait=1")
        try #require((200..<300).contains(answer.status), "\(path): \(answer.body)")
    }

    // MARK: Who is asked

    func request(
        _ method: String, _ path: String, _ body: String = "", prefer: String? = nil,
        as other: String? = nil
    ) throws -> (status: Int, body: String) {
        var words = [
            "curl", "-sk", "-X", method, "-H", "Authorization: Bearer \(other ?? key)", "-w",
            "\n%{http_code}",
        ]
        if let prefer { words += ["-H", "Prefer: \(prefer)"] }
        if !body.isEmpty { words += ["-d", body] }
        let output = try Shell.run(words + [relay.api + path]).output
        let lines = output.split(separator: "\n", omittingEmptySubsequences: false)
        return (Int(lines.last ?? "") ?? 0, lines.dropLast().joined(separator: "\n"))
    }

    func command(_ words: [String]) throws -> Tombolo.Result {
        let words = words.map { $0.replacing("WORK", with: directory.path) }
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

    deinit {
        // It is busy until the relay has ended, which comes after this.
        if isMounted { _ = try? Shell.run("umount", "-l", data) }
    }

    // MARK: What goes wrong

    /// Why the disk cannot be filled here.
    struct NoSmallDisk: Error {
        var reason: String
    }

    /// Afterwards it is full, by nine tenths and more.
    func fillDisk() throws {
        guard isMounted else { throw NoSmallDisk(reason: "no file system can be mounted here") }
        var status = statvfs()
        guard statvfs(data, &status) == 0 else { throw NoSmallDisk(reason: "statvfs failed") }
        let free = UInt64(status.f_bavail) * UInt64(status.f_frsize)
        let filled = try Shell.run("fallocate", "-l", "\(free - (4 << 20))", "\(data)/fill")
        guard filled.status == 0 else { throw NoSmallDisk(reason: filled.errors) }
    }

    func clearDisk() { unlink("\(data)/fill") }

    /// Of the wall's clock alone, unless time passes: the relay tells it from the monotonic one.
    private var fakeClock: [String: String] {
        [
            "LD_PRELOAD": Self.clockLibrary, "FAKETIME_TIMESTAMP_FILE": "\(directory.path)/clock",
            "FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": isTimePassing ? "0" : "1",
        ]
    }

    /// The wall's clock of a program is ahead by that time, as if it began so much later.
    static func clock(later: String) -> [String: String] {
        [
            "LD_PRELOAD": clockLibrary, "FAKETIME": later, "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        ]
    }

    private static let clockLibrary = "/usr/lib/\(machine)-linux-gnu/faketime/libfaketime.so.1"

    private static var machine: String {
        #if arch(arm64)
        "aarch64"
        #else
        "x86_64"
        #endif
    }

    /// Sets the relay's clock so far from the machine's, as libfaketime reads it.
    func setClock(_ offset: String) throws {
        try directory.write("clock", offset + "\n")
    }

    private func requireClockLibrary() throws {
        try #require(access(Self.clockLibrary, F_OK) == 0, "libfaketime is missing")
    }

    /// Sets the clock back while the relay runs, once it has told a phone the right time.
    func setClockBack() throws {
        try requireClockLibrary()
        try setClock("-2h")
    }

    /// The relay starts again with another clock.
    func restart(withClock offset: String) throws {
        try requireClockLibrary()
        try restart { try setClock(offset) }
    }

    /// Something happens while no relay runs.
    private func restart(after deed: () throws -> Void) throws {
        _ = try relay.terminate()
        try deed()
        errors = []
        try start()
    }

    /// Changes a letter of the card in each row that has it, while no relay runs.
    func damageLog() throws { try restart { try Self.damage("\(data)/tombolo.db") } }

    /// Others may use the data directory before a start, and the log after it.
    func openData() throws {
        try restart {
            chmod(data, 0o755)
            chmod("\(data)/pepper", 0o644)
        }
        chmod("\(data)/tombolo.db", 0o666)
    }

    /// A channel, and the activity `match` on it.
    func broadcast() throws {
        try put("/v1/channels/final", "{}")
        try put(
            "/v1/activities/match",
            #"{"type":"Runner","audience":{"channel":"final"},"state":{"lap":0}}"#, wait: true)
    }

    /// A copy of the log at `WORK/copy` that is damaged.
    func damageCopy() throws {
        let copy = "\(directory.path)/copy"
        let made = try Tombolo.run("backup", "create", copy, "--data", data)
        try #require(made.status == 0, "\(made.errors)")
        try Self.damage("\(copy)/tombolo.db")
    }

    private static func damage(_ path: String) throws {
        var bytes = try FileBytes.read(path)
        let mark = Array("qqcatqq".utf8)
        let places = bytes.indices.filter {
            bytes[$0] == mark[0] && bytes[$0...].starts(with: mark)
        }
        try #require(!places.isEmpty, "the card is in \(path)")
        for place in places { bytes[place] ^= 2 }
        try FileBytes.write(bytes, to: path)
    }

    /// The relay is told to stop while an upload is under way: it waits for that, and takes no
    /// more.
    func drain() throws {
        let upload = try ChildProcess(
            [
                "-skN", "-X", "POST", "-H", "Authorization: Bearer \(key)", "-H",
                "Content-Type: application/x-ndjson", "-H", "Prefer: lines", "-T", ".",
                relay.api + "/v1/events",
            ], program: "/usr/bin/curl")
        drainer = upload
        try upload.write(#"{"do":"update","activity":"cat","state":{"lap":1}}"# + "\n")
        let line = try upload.line(within: 20)
        try #require(line.contains(#""ok":true"#), "\(line)")
        relay.process.signal(SIGTERM)
        // Its listener is closed before anything else.
        while try request("GET", "/livez").status != 0 {}
    }

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
            // 6: it waited for the push, which Apple refused.
            try #require([0, 6].contains(update.status), "\(update.errors)")
            if try request("GET", "/metrics").body.contains(#"state="closed"} 1"#) { return }
        }
    }

    func killSimulator() throws {
        simulator.signal(SIGKILL)
        _ = try simulator.finish(within: 10)
    }

    /// Another user signs in, and a widget asks with the key of the user before.
    func fetchWithFormerKey() throws {
        let minted = try request("POST", "/v1/keys", #"{"scopes":["device:phone"],"user":"u42"}"#)
        let former = try json(minted.body)["key"]?.string
        let signIn = try request("PUT", "/v1/devices/phone", #"{"user":"u43"}"#)
        try #require(signIn.body.contains("former-key-lives"), "\(signIn.body)")
        let fetch = try request("GET", "/v1/timelines/profile/entries", as: former)
        try #require(fetch.status == 403, "\(fetch.body)")
    }

    /// Apple refuses the start token of another phone, where `dog` is to begin.
    func refuseToken() throws {
        try fault(#"{"token":"dead","reason":"BadDeviceToken"}"#)
        try put("/v1/devices/tablet", #"{"app":"com.example.app"}"#)
        try put("/v1/devices/tablet/tokens/start:Runner", #"{"token":"dead"}"#)
        try put(
            "/v1/activities/dog",
            #"{"type":"Runner","audience":{"device":"tablet"},"state":{},"alert":{"title":"a"}}"#,
            wait: true)
    }

    /// The phone's app says of its card what it has: the members that its type knows, and no time.
    func report() throws {
        try put(
            "/v1/devices/phone/activities/cat", #"{"phase":"active","received_state":{"lap":0}}"#)
    }

    /// The phone has the version, and the app reports no drawing, as no app of an iPhone can.
    func reportReceived(_ version: Int) throws {
        try put(
            "/v1/devices/phone/activities/cat",
            "{\"phase\":\"active\",\"received_version\":\(version)}")
    }

    func change(_ body: String = #"{"state":{"lap":1}}"#) throws {
        try send("PATCH", "/v1/activities/cat", body)
    }

    /// So long later, by the relay's clock.
    func pass(_ offset: String) throws {
        try requireClockLibrary()
        try setClock(offset)
        // It looks at its clock.
        _ = try request("GET", "/readyz")
    }

    /// A tablet with these facts and without a token.
    func tablet(_ facts: String = "") throws {
        try put("/v1/devices/tablet", #"{"app":"com.example.app"\#(facts)}"#)
    }

    func start(_ id: String, _ type: String, _ audience: String) throws {
        try put(
            "/v1/activities/\(id)",
            #"{"type":"\#(type)","audience":{\#(audience)},"state":{},"alert":{"title":"a"}}"#)
    }

    /// A card on a channel of its own.
    func startOnChannel() throws {
        try put("/v1/devices/phone", #"{"os":"26.1"}"#)
        try put("/v1/devices/phone/tokens/start:Runner", #"{"token":"ccde"}"#)
        try put(
            "/v1/activities/dog",
            #"{"type":"Runner","audience":{"device":"phone","start":"channel"},"state":{"lap":0},"#
                + #""alert":{"title":"a"}}"#, wait: true)
    }

    /// The relay writes the version into the states of the type, and the app gives it back.
    func reportVersionInState() throws {
        let schema = #"{"lap":{"type":"integer"},"v":{"type":"integer"}}"#
        try put("/v1/types/Runner", #"{"version_at":"/v","state":{"properties":\#(schema)}}"#)
        try change()
        try put(
            "/v1/devices/phone/activities/cat",
            #"{"phase":"active","received_state":{"lap":1,"v":2}}"#)
    }

    /// Apple refuses the token of the card, which the phone shows all the same.
    func refuseCard() throws {
        try fault(#"{"token":"aabb","reason":"BadDeviceToken"}"#)
        try send("PATCH", "/v1/activities/cat", #"{"state":{"lap":1}}"#)
    }

    /// A start beyond the phone's ten waits until its activity ends.
    func endBeforeStart() throws {
        for number in 1...11 { try start("dog-\(number)", "Runner", #""device":"phone""#) }
        try send("POST", "/v1/activities/dog-11/end", "{}")
    }

    func pauseApp() throws { try send("POST", "/v1/pauses", #"{"app":"com.example.app"}"#) }

    /// An operator holds an alert back, and its activity ends.
    func endBeforeAlert() throws {
        try send("POST", "/v1/pauses", #"{"all":true,"alerts_only":true}"#)
        try send("PATCH", "/v1/activities/cat", #"{"state":{"lap":1},"alert":{"title":"a"}}"#)
        try send("POST", "/v1/activities/cat/end", "{}")
    }

    /// A minute passes while the phone shows an older picture than it has.
    func freeze() throws {
        try put(
            "/v1/devices/phone/activities/cat",
            #"{"phase":"active","received_version":1,"drawn_version":0}"#)
        try pass("+61s")
    }

    /// Three changes of high urgency go at priority 10, and the fourth does not.
    func spendToReserve() throws {
        try put("/v1/devices/phone", #"{"app":"com.example.app","budget_class":"standard"}"#)
        for lap in 1...4 {
            let answer = try request(
                "PATCH", "/v1/activities/cat", "{\"state\":{\"lap\":\(lap)},\"urgency\":\"high\"}",
                prefer: "wait=5")
            #expect(answer.body.contains(#""reason":"reserve""#) == (lap == 4), "\(answer.body)")
        }
    }

    /// The phone says that its user has swiped the card away.
    func swipe() throws {
        try put("/v1/devices/phone/activities/cat", #"{"phase":"dismissed","by":"user"}"#)
    }
}
