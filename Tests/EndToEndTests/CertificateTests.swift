import Glibc
import Testing
import TomboloJSON

@testable import TomboloProgram

/// The listener's certificate: that it ends is told while there is time, and a new one needs no
/// restart.
@Suite(.serialized) struct CertificateTests {
    /// Days of its life, the clock at which it was made, and what is told.
    static let rows: [(days: Int, clock: String?, notice: String?)] = [
        (90, nil, nil), (90, "-60d", nil), (90, "-75d", "expires in 14 days"),
        (90, "-89d", "expires in 23 hours"), (30, "-40d", "expired at 20"),
        (30, "+3d", "is not valid before 20"),
        // Of a short life the last third.
        (6, "-3d", nil), (6, "-5d", "expires in 23 hours"),
    ]

    private func configuration(_ directory: TemporaryDirectory, _ tls: String) throws -> String {
        try directory.write(
            "tombolo.json",
            """
            {"listen":"127.0.0.1:0","data":"\(directory.path)","tls":\(tls),
            "apps":[{"id":"com.example.app","team_id":"TEAM123456","key_id":"ABC123DEFG",
            "key_file":"key.p8","endpoint":"http://127.0.0.1:1"}]}
            """)
    }

    @Test(arguments: rows.indices)
    func `config check, serve and doctor say that a certificate ends`(_ index: Int) throws {
        let (days, clock, notice) = Self.rows[index]
        let directory = try TemporaryDirectory()
        try directory.pushKey("key.p8")
        let tls = try directory.certificate("tls", days: days, at: clock)
        let path = try configuration(directory, tls)
        let checked = try Tombolo.run("config", "check", path)
        let doctor = try Tombolo.run("doctor", path)
        let relay = try ChildProcess(["serve", "--config", path])
        _ = try relay.line(within: 30)
        relay.signal(SIGTERM)
        let served = try relay.finish(within: 30)
        #expect(served.status == 0)
        guard let notice else {
            #expect(checked.status == 0, "\(checked.errors)")
            #expect(!served.errors.contains("certificate"))
            #expect(!doctor.output.contains("certificate"))
            return
        }
        #expect(checked.status == 7)
        for text in [checked.errors, served.errors, doctor.output] {
            #expect(text.contains("tls.pem: the certificate \(notice)"), "\(text)")
        }
        #expect(checked.errors.contains("\(path):1:"))
    }

    /// When the certificate that the relay shows was made to end.
    private func shownEnd(_ relay: RunningRelay) throws -> String {
        let address = relay.api.dropFirst("https://".count)
        return try Shell.run(
            "sh", "-c",
            "openssl s_client -connect \(address) </dev/null 2>&1 | openssl x509 -noout -enddate"
        ).output
    }

    @Test func `SIGHUP while a relay starts is followed when it has started`() throws {
        let directory = try TemporaryDirectory()
        try directory.pushKey("key.p8")
        let path = try configuration(directory, try directory.certificate("tls", days: 90))
        _ = try RunningRelay.mintKey(directory.path)
        // The start waits for its pepper, which comes through a pipe.
        let pepper = "\(directory.path)/pepper"
        let bytes = try FileBytes.read(pepper)
        try #require(unlink(pepper) == 0 && mkfifo(pepper, 0o600) == 0)
        let relay = try ChildProcess(["serve", "--config", path])
        defer { relay.signal(SIGKILL) }
        var writer: Int32 = -1
        let end = time(nil) + 30
        while writer < 0, time(nil) < end { writer = open(pepper, O_WRONLY | O_NONBLOCK) }
        try #require(writer >= 0, "the relay does not ask for its pepper")
        relay.signal(SIGHUP)
        try #require(write(writer, bytes, bytes.count) == bytes.count)
        close(writer)
        #expect(try relay.line(within: 30).contains(#""ready":true"#))
        let applied = try relay.errorLine(containing: "config-applied", within: 30)
        #expect(applied.contains("nothing has changed"), "\(applied)")
        relay.signal(SIGTERM)
        #expect(try relay.finish(within: RunningRelay.stopTime).status == 0)
    }

    @Test func `a dry run judges a certificate as the reload does, and takes none`() throws {
        let directory = try TemporaryDirectory()
        try directory.pushKey("key.p8")
        let path = try configuration(directory, try directory.certificate("tls", days: 90))
        let relay = try RunningRelay(serve: directory.path, arguments: ["--config", path])
        let old = try shownEnd(relay)
        let shown = try FileBytes.read("\(directory.path)/tls.pem")
        try directory.write("shown.pem", String(decoding: shown, as: UTF8.self))
        func reload(_ more: [String]) throws -> String {
            try relay.tombolo(
                ["config", "reload", "-o", "table", "--ca", "\(directory.path)/shown.pem"]
                    + more
            ).output
        }
        try directory.certificate("tls", days: 30, at: "-40d")
        let tried = try reload(["--dry-run"])
        #expect(tried.contains("the old certificate stays in use"), "\(tried)")
        #expect(tried.contains("expired at 20"))
        #expect(try reload([]) == tried)
        try directory.certificate("tls", days: 80)
        #expect(try reload(["--dry-run"]).contains("would be applied"))
        #expect(try shownEnd(relay) == old)
        #expect(try relay.terminate() == 0)
    }

    @Test func `SIGHUP takes a renewed certificate into use, and no broken one`()
        throws
    {
        let directory = try TemporaryDirectory()
        try directory.pushKey("key.p8")
        let tls = try directory.certificate("tls", days: 90, at: "-89d")
        let path = try configuration(directory, tls)
        let relay = try RunningRelay(serve: directory.path, arguments: ["--config", path])
        let notice = try relay.process.errorLine(containing: "certificate:", within: 30)
        #expect(notice.contains("expires in 23 hours") && notice.contains("; try: renew "))
        let old = try shownEnd(relay)
        #expect(old.hasPrefix("notAfter="))

        try directory.certificate("tls", days: 90)
        relay.process.signal(SIGHUP)
        let taken = try relay.process.errorLine(containing: "config-", within: 30)
        #expect(taken.contains("config-applied: ") && taken.contains("tls.pem is in use"))
        let new = try shownEnd(relay)
        #expect(new.hasPrefix("notAfter=") && new != old)

        try directory.certificate("tls", days: 30, at: "-40d")
        relay.process.signal(SIGHUP)
        let expired = try relay.process.errorLine(containing: "config-", within: 30)
        #expect(expired.contains("the old certificate stays in use: "), "\(expired)")
        #expect(expired.contains("expired at 20") && expired.contains("; try: renew "))
        #expect(try shownEnd(relay) == new)

        try directory.write("tls.pem", "nonsense")
        relay.process.signal(SIGHUP)
        let refused = try relay.process.errorLine(containing: "config-", within: 30)
        #expect(refused.contains("the old certificate stays in use: \(path):1:"), "\(refused)")
        #expect(refused.contains("tls.pem"))
        #expect(try shownEnd(relay) == new)
        #expect(try relay.terminate() == 0)
    }
}
