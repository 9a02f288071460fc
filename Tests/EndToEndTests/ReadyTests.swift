import Glibc
import Testing
import TomboloJSON

@testable import TomboloProgram

/// `ready`, which a load balancer and a supervisor ask, and what root makes for a service.
@Suite struct ReadyTests {
    private let work: TemporaryDirectory

    init() throws { work = try TemporaryDirectory() }

    private var data: String { "\(work.path)/data" }

    @Test func `a relay is asked as its configuration says, also under a certificate for a name`()
        throws
    {
        try work.pushKey("key.p8")
        let tls = try work.certificate("tls", days: 90)
        let path = try work.write(
            "tombolo.json",
            """
            {"listen":"127.0.0.1:0","data":"\(data)","tls":\(tls),
            "apps":[{"id":"com.example.app","team_id":"TEAM123456","key_id":"ABC123DEFG",
            "key_file":"key.p8","endpoint":"http://127.0.0.1:1"}]}
            """)
        let relay = try ChildProcess(["serve", "--config", path])
        let ready = try json(try relay.line(within: 30))
        let address = try #require(ready["api"]?.string).dropFirst("https://".count)
        // Apple cannot be reached, which is no fault of the relay.
        for flags in [[], ["--live"]] {
            let words = ["ready", "--config", path, "--listen", String(address)] + flags
            let result = try Tombolo.run(words)
            #expect(result.status == 0, "\(result.errors)")
        }
        relay.signal(SIGTERM)
        #expect(try relay.finish(within: RunningRelay.stopTime).status == 0)
        let gone = try Tombolo.run([
            "ready", "--live", "--config", path, "--listen", String(address),
        ])
        #expect(gone.status == 5)
    }

    @Test(.enabled(if: geteuid() == 0, "only root mounts a file system"))
    func `on a full disk a relay is not ready, and lives`() throws {
        mkdir(data, 0o700)
        let mounted = try Shell.run("mount", "-t", "tmpfs", "-o", "size=96m", "tmpfs", data)
        try #require(mounted.status == 0, "\(mounted.errors)")
        defer { umount2(data, Int32(MNT_DETACH)) }
        let relay = try RunningRelay(serve: data)
        _ = try Shell.run("dd", "if=/dev/zero", "of=\(data)/fill", "bs=4k")
        var ready = try Tombolo.run("ready", "--relay", relay.api)
        // The relay notices it by the first event that has no room.
        for number in 0..<2_000 where ready.status == 0 {
            let state = String(repeating: "x", count: 3_000)
            _ = try relay.tombolo("start", "cat-\(number)", "--type", "T", "-s", "x=\(state)")
            ready = try Tombolo.run("ready", "--relay", relay.api)
        }
        #expect(ready.status == 1)
        #expect(ready.errors.contains("answers 503"), "\(ready.errors)")
        #expect(try Tombolo.run("ready", "--live", "--relay", relay.api).status == 0)
        unlink("\(data)/fill")
        try relay.kill()
    }

    // MARK: Owners

    private static let service: uid_t = 4_711

    private func owner(_ path: String) -> uid_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_uid : nil
    }

    @Test(.enabled(if: geteuid() == 0, "only root makes files for others"))
    func `what root makes in a service's directory is the service's`() throws {
        mkdir(data, 0o700)
        try #require(chown(data, Self.service, Self.service) == 0)
        _ = try RunningRelay.mintKey(data)
        let copy = "\(work.path)/copy"
        #expect(try Tombolo.run("backup", "create", copy, "--data", data).status == 0)
        let other = "\(work.path)/other"
        mkdir(other, 0o700)
        try #require(chown(other, Self.service, Self.service) == 0)
        #expect(try Tombolo.run("backup", "restore", copy, "--data", other).status == 0)
        let third = "\(work.path)/third"
        mkdir(third, 0o700)
        try #require(chown(third, Self.service, Self.service) == 0)
        let lines = try Tombolo.run("log", "export", "--data", data).output
        #expect(try Tombolo.run(["log", "import", "--data", third], input: lines).status == 0)
        #expect(try Tombolo.run("config", "init", "\(third)/tombolo.json").status == 0)
        for directory in [data, other, third] {
            let files = try Shell.run("find", directory, "-mindepth", "1").output
            for file in files.split(separator: "\n") {
                #expect(owner(String(file)) == Self.service, "\(file)")
            }
        }
        // A link is somebody else's file, and so is one of root's that was put there.
        let secret = try work.write("secret", "root's")
        unlink("\(data)/pepper")
        link(secret, "\(data)/pepper")
        _ = try Tombolo.run("key", "mint", "--scope", "all", "--data", data)
        #expect(owner(secret) == 0)
        unlink("\(data)/pepper")
        rename(secret, "\(data)/pepper")
        for words in [["ready"], ["doctor"], ["key", "mint", "--scope", "all"]] {
            _ = try Tombolo.run(words + ["--data", data, "--listen", "127.0.0.1:1"])
            _ = try Tombolo.run(words + ["--data", data])
            #expect(owner("\(data)/pepper") == 0, "\(words)")
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root becomes another user"))
    func `a service that may not use root's file is told whose it is, and what helps`() throws {
        mkdir(data, 0o700)
        _ = try RunningRelay.mintKey(data)
        for path in [work.path, data] { try #require(chown(path, Self.service, 0) == 0) }
        let serve = try Shell.run(
            "setpriv", "--reuid=\(Self.service)", "--clear-groups", Tombolo.path, "serve", "--data",
            data, "--listen", "127.0.0.1:0")
        #expect(serve.status != 0)
        #expect(
            serve.errors.contains("belongs to root, and this command runs as \(Self.service)"),
            "\(serve.errors)")
        #expect(serve.errors.contains("try: chown \(Self.service): \(data)/"))
    }
}
