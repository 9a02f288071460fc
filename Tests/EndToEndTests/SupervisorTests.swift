import Glibc
import TestSupport
import Testing

@testable import TomboloProgram

/// The relay under a service manager: what it says, and the socket that it is handed.
@Suite struct SupervisorTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    /// What a service manager listens on.
    private final class Manager {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)

        /// `@` begins a name in the abstract namespace.
        init(at place: String) throws {
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            let path = place.utf8.map { $0 == UInt8(ascii: "@") ? 0 : $0 }
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
            let length = socklen_t(MemoryLayout<sa_family_t>.size + path.count)
            let code = withUnsafePointer(to: address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, length)
                }
            }
            try #require(code == 0, "errno \(errno)")
        }

        deinit { close(descriptor) }

        /// The next message that begins with `beginning`; those before it are passed over.
        func message(_ beginning: String, within milliseconds: Int32 = 30_000) throws -> String {
            for _ in 0..<1_000 {
                var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                guard poll(&waiting, 1, milliseconds) > 0 else { break }
                var bytes = [UInt8](repeating: 0, count: 4_096)
                let count = recv(descriptor, &bytes, bytes.count, 0)
                let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
                if text.hasPrefix(beginning) { return text }
            }
            throw TestFailure("no message \(beginning)")
        }
    }

    /// A socket of TCP as a service manager makes one.
    private static func bound(to host: UInt32) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = host.bigEndian
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        try #require(code == 0 && listen(descriptor, 8) == 0, "errno \(errno)")
        return descriptor
    }

    private static func port(of descriptor: Int32) throws -> UInt16 {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getsockname(descriptor, $0, &length)
            }
        }
        try #require(code == 0, "errno \(errno)")
        return UInt16(bigEndian: address.sin_port)
    }

    private static let loopback: UInt32 = 0x7F00_0001

    @Test func `it says ready, that it is alive, that it reloads, and that it stops`() throws {
        let place = "\(directory.path)/notify"
        let manager = try Manager(at: place)
        let relay = try ChildProcess(
            ["serve", "--data", "\(directory.path)/data", "--listen", "127.0.0.1:0"],
            environment: ["NOTIFY_SOCKET": place, "WATCHDOG_USEC": "300000"])
        let ready = try manager.message("READY=1")
        #expect(ready.hasPrefix("READY=1\nSTATUS=It takes requests at http://127.0.0.1:"))
        for _ in 0..<3 { #expect(try manager.message("WATCHDOG=1") == "WATCHDOG=1") }
        relay.signal(SIGHUP)
        let reloading = try manager.message("RELOADING=1")
        let time = reloading.split(separator: "=").last.flatMap { Int64($0) } ?? 0
        #expect(reloading.hasPrefix("RELOADING=1\nMONOTONIC_USEC=") && time > 0, "\(reloading)")
        #expect(try manager.message("READY=1") == "READY=1")
        relay.signal(SIGTERM)
        #expect(try manager.message("STOPPING=1").contains("\nSTATUS="))
        #expect(try relay.finish(within: RunningRelay.stopTime).status == 0)
    }

    @Test func `the first signal of a watchdog ends a relay, and is no trap of its own`() throws {
        let relay = try ChildProcess(
            ["serve", "--data", "\(directory.path)/data", "--listen", "127.0.0.1:0"])
        _ = try relay.line(within: RunningRelay.startTime)
        relay.signal(SIGABRT)
        #expect(try relay.finish(within: RunningRelay.stopTime).status != 0)
        let notes = try #require(CrashNotes(directory: "\(directory.path)/data"))
        #expect(notes.trapped.isEmpty)
    }

    @Test func `with a database, crashes are noted in the service's own directory`() {
        var configuration = Configuration()
        configuration.database = Configuration.Database()
        configuration.database?.schema = "shop"
        #expect(CrashNotes(configuration, state: nil) == nil)
        #expect(CrashNotes(configuration, state: "\(directory.path):/var/lib/other") != nil)
        #expect(access("\(directory.path)/tombolo-shop.crashes", F_OK) == 0)
    }

    @Test func `a relay that is stopped in its tracks says nothing`() throws {
        let manager = try Manager(at: "\(directory.path)/notify")
        let relay = try ChildProcess(
            ["serve", "--data", "\(directory.path)/data", "--listen", "127.0.0.1:0"],
            environment: ["NOTIFY_SOCKET": "\(directory.path)/notify", "WATCHDOG_USEC": "100000"])
        _ = try manager.message("WATCHDOG=1")
        relay.signal(SIGSTOP)
        var messages = 0
        // No message is what the loop waits for.
        while (try? manager.message("WATCHDOG=1", within: 1_000)) != nil { messages += 1 }
        // At most those that were on their way: nobody would notice a relay that hangs otherwise.
        #expect(messages < 10)
        relay.signal(SIGCONT)
        _ = try manager.message("WATCHDOG=1")
    }

    @Test func `it speaks to an abstract name, and only to the process that is meant`() async throws
    {
        let place = "@tombolo-test-\(getpid())"
        let manager = try Manager(at: place)
        let other = "\(getpid() + 1)"
        let told = try Supervisor([
            "NOTIFY_SOCKET": place, "WATCHDOG_USEC": "1000000", "WATCHDOG_PID": other,
            "LISTEN_PID": other, "LISTEN_FDS": "1",
        ])
        #expect(told.patience == nil && told.listener == nil && told.address == nil)
        try await onLoop { loop in await told.ready("well", on: loop) }
        #expect(try manager.message("READY") == "READY=1\nSTATUS=well")
        let watched = try Supervisor(["NOTIFY_SOCKET": place, "WATCHDOG_USEC": "1000000"])
        #expect(watched.patience == .seconds(1))
        #expect(try Supervisor(["WATCHDOG_USEC": "1000000"]).patience == nil)
    }

    @Test func `two sockets are refused with what to do`() {
        let error = #expect(throws: ProgramError.self) {
            try Supervisor(["LISTEN_PID": "\(getpid())", "LISTEN_FDS": "2"])
        }
        #expect(error?.cause.contains("2 sockets") == true)
    }

    /// As systemd starts a service: the socket is descriptor 3, the process is named.
    private func activated(_ descriptor: Int32) throws -> ChildProcess {
        try ChildProcess(
            [
                "-c", #"LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" "$@""#, Tombolo.path, "serve",
                "--data", "\(directory.path)/data", "--listen", "127.0.0.1:1",
            ], program: "/bin/sh", socket: descriptor)
    }

    @Test func `the socket that is handed over is served, and stays open after the relay`() throws {
        let descriptor = try Self.bound(to: Self.loopback)
        defer { close(descriptor) }
        let port = try Self.port(of: descriptor)
        for _ in 0..<2 {
            let relay = try activated(descriptor)
            let ready = try relay.line(within: RunningRelay.startTime)
            #expect(ready.contains(#""api":"http://127.0.0.1:\#(port)""#), "\(ready)")
            let page = try Shell.run("curl", "-sS", "http://127.0.0.1:\(port)/readyz")
            #expect(page.status == 0, "\(page.errors)")
            relay.signal(SIGTERM)
            #expect(try relay.finish(within: RunningRelay.stopTime).status == 0)
        }
    }

    @Test func `a socket that other machines reach needs tls like any listener`() throws {
        let descriptor = try Self.bound(to: INADDR_ANY)
        defer { close(descriptor) }
        let result = try activated(descriptor).finish(within: RunningRelay.startTime)
        #expect(result.status == 2)
        #expect(
            result.errors.contains("the service manager's socket: 0.0.0.0:")
                && result.errors.contains("can be reached from other machines and has no tls"),
            "\(result.errors)")
    }

    @Test func `a credential of systemd may be read by a group, and a file elsewhere may not`() {
        let credential = "/run/credentials/tombolo.service/push_AuthKey.p8"
        for (mode, path, isOpen) in [
            (0o400, credential, false), (0o440, credential, false), (0o444, credential, true),
            (0o600, "/etc/tombolo/a.p8", false), (0o640, "/etc/tombolo/a.p8", true),
            (0o440, "/run/credentialsx/a.p8", true),
            (0o440, "/run/credentials/../a.p8", true),
        ] as [(mode_t, String, Bool)] {
            #expect(CheckedApp.isOpenToOthers(mode, at: path) == isOpen, "\(path)")
        }
    }
}
