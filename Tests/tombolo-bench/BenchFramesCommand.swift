import Glibc
import TomboloCore
import TomboloCrypto
import TomboloJSON
import TomboloLog
import TomboloLoop
import TomboloProgram
import TomboloRelay
import TomboloSQLite

/// `bench frames`: plays clips of ten frames a second on many activities of class `lab`, through a
/// whole relay: log, core, shell and push client.
enum BenchFramesCommand {
    static let every = Span.milliseconds(100)
    /// Target length of a push's payload, in bytes.
    static let payloadBytes = 400
    /// Wait between the start of the last clip and the start of the measurement.
    private static let warmUp = Duration.seconds(3)

    static func run(_ context: CommandContext) async throws -> ExitStatus {
        let invocation = context.invocation
        let count = invocation.integer(.frameActivities) ?? 1_000
        let seconds = invocation.integer(.frameSeconds) ?? 60
        let bench = try FramesRelay(context, activities: count)
        let figures = try await bench.run(seconds: seconds)
        var report = BenchReport()
        report.add("activities", Double(count), digits: 0)
        report.add("seconds", figures.seconds, digits: 1)
        report.add("frames", Double(bench.meter.frames), digits: 0)
        report.add("missed", Double(bench.meter.missed), digits: 0)
        report.add("frames_per_second", Double(bench.meter.frames) / figures.seconds, digits: 0)
        report.add(
            "cpu_us_per_frame",
            figures.processorSeconds / Double(max(1, bench.meter.frames)) * 1e6, digits: 2)
        report.add("cores", figures.processorSeconds / figures.seconds, digits: 2)
        report.add("jitter_p50_ms", bench.meter.quantile(0.5), digits: 2)
        report.add("jitter_p99_ms", bench.meter.quantile(0.99), digits: 2)
        report.add("jitter_max_ms", Double(bench.meter.worst) / 1e6, digits: 2)
        report.add("refused_or_lost", Double(figures.failed), digits: 0)
        try report.print(context)
        return figures.failed == 0 ? .succeeded : .failed
    }

    /// A relay for this benchmark, with a directory that is removed at the end.
    final class FramesRelay: @unchecked Sendable {
        // Sendable: used on the loop's thread only, where commands run.

        struct Figures: Sendable {
            var seconds = 0.0
            var processorSeconds = 0.0
            /// Number of pushes that were not accepted.
            var failed: Int64 = 0
        }

        let meter: FrameMeter
        private let directory: TemporaryDirectory
        private let log: SQLiteEventLog
        private let upstreams = UpstreamSender()
        private let relay: Relay
        private let loop: EpollLoop
        private let tenant: TenantID
        private let activities: Int

        init(_ context: CommandContext, activities: Int) throws {
            guard let endpoint = context.invocation.origin(.benchEndpoint) else {
                throw ProgramError.usage(
                    "there is no endpoint",
                    remedy: "tombolo-bench frames --endpoint https://HOST:PORT")
            }
            loop = context.loop
            tenant = .main
            self.activities = activities
            directory = try TemporaryDirectory()
            let keyFile = directory.path + "/key.p8"
            try FileBytes.write(P256PrivateKey.generate().pkcs8PEM, to: keyFile)
            let app = Configuration.App(
                id: BenchPushCommand.bundleID, tenant: tenant, teamID: "BENCHTEAM1",
                keyID: "BENCHKEY01", keyFile: keyFile, environment: .sandbox, endpoint: endpoint,
                caFile: context.invocation.text(.caFile))
            var chance = SystemRandomNumberGenerator()
            log = try SQLiteEventLog(directory: directory.path, chance: &chance)
            try upstreams.open([try CheckedApp(app, at: 0)], loop: loop)
            meter = FrameMeter(
                activities: activities, every: every, upstreams: upstreams, loop: loop)
            relay = Relay(
                loop: loop, log: log, sender: meter,
                configuration: CoreConfiguration(apps: [
                    CoreConfiguration.App(
                        tenant: tenant, id: BenchPushCommand.bundleID, environment: .sandbox,
                        allowsLab: true)
                ]), wallClock: SystemClock(), seed: chance.next())
            upstreams.attach(relay)
        }

        func run(seconds: Int) async throws -> Figures {
            _ = try await relay.recover()
            var figures = Figures()
            try await withThrowingTaskGroup(of: Figures?.self) { group in
                group.addTask {
                    try await self.relay.run()
                    return nil
                }
                group.addTask {
                    try await self.upstreams.run()
                    return nil
                }
                group.addTask { try await self.play(seconds: seconds) }
                defer { group.cancelAll() }
                while let one = try await group.next() {
                    guard let one else { continue }
                    figures = one
                    break
                }
            }
            await log.close()
            return figures
        }

        private func play(seconds: Int) async throws -> Figures {
            while await !relay.isRunning { try await loop.sleep(for: .milliseconds(1)) }
            try await begin()
            try await playAll()
            try await loop.sleep(for: BenchFramesCommand.warmUp)
            let failedBefore = await failed()
            let began = (clock(CLOCK_MONOTONIC), clock(CLOCK_PROCESS_CPUTIME_ID))
            meter.measure()
            try await loop.sleep(for: .seconds(seconds))
            meter.stop()
            let ended = (clock(CLOCK_MONOTONIC), clock(CLOCK_PROCESS_CPUTIME_ID))
            return Figures(
                seconds: ended.0 - began.0, processorSeconds: ended.1 - began.1,
                failed: await failed() - failedBefore)
        }

        private func clock(_ clock: clockid_t) -> Double {
            Double(BenchAppendCommand.nanoseconds(of: clock)) / 1e9
        }

        private func failed() async -> Int64 {
            let counters = await relay.counters(of: tenant)
            return counters.pushesRejected + counters.pushesNotSent + counters.pushesUnknown
        }

        // MARK: Load

        /// Registers devices and update tokens. The phones' apps start the activities.
        private func begin() async throws {
            let registration = try DeviceRegistration(
                reading: JSONDocument(Array(#"{"budget_class":"lab"}"#.utf8)).root)
            for index in 0..<activities {
                guard let id = Identifier("d\(index)"), let name = TokenName("activity:a\(index)")
                else { continue }
                let device = DeviceKey(tenant: tenant, id: id)
                _ = await relay.submitDeviceCommand(
                    .register(registration), for: device, by: .operate)
                let digest = SHA256.digest("token\(index)")
                let token = try TokenRegistration(
                    reading: JSONDocument(Array(#"{"token":"\#(Hex.encode(digest))"}"#.utf8)).root)
                _ = await relay.submitDeviceCommand(
                    .putToken(name, token), for: device, by: .operate)
            }
            try await submit(0..<activities) { index in
                let body =
                    #"{"type":"Bench","audience":{"device":"d\#(index)","start":"adopt"},"#
                    + #""state":{"a":\#(index),"note":"\#(self.note)"}}"#
                return (.start, body)
            }
        }

        /// Text that makes a state about `payloadBytes` long.
        private let note = String(
            String(repeating: "on the way ", count: payloadBytes / 11).prefix(payloadBytes - 120))

        /// Starts the clips in a hundred groups, 101 ms apart, so that their frames are spread over
        /// the interval.
        private func playAll() async throws {
            let parts = 100
            let first = loop.now
            for part in 0..<parts {
                let start = first + .milliseconds(part * 101)
                if loop.now < start {
                    try await loop.sleep(for: .nanoseconds((start - loop.now).nanoseconds))
                }
                let range = (part * activities / parts)..<((part + 1) * activities / parts)
                try await submit(range) { _ in
                    (
                        .play,
                        #"{"flipbook":{"path":"/f","frames":[0,1,2,3,4,5,6,7,8,9],"every":"100ms"}}"#
                    )
                }
            }
        }

        private func submit(
            _ range: Range<Int>, _ line: (Int) -> (EventKind, String)
        ) async throws {
            for start in stride(from: range.lowerBound, to: range.upperBound, by: 500) {
                var commands: [Command] = []
                for index in start..<min(start + 500, range.upperBound) {
                    guard let id = Identifier("a\(index)") else { continue }
                    let (kind, body) = line(index)
                    let document = try JSONDocument(Array(body.utf8))
                    commands.append(
                        Command(
                            activity: ActivityKey(tenant: tenant, id: id),
                            content: try Command.Content(kind: kind, document.root),
                            body: document.bytes))
                }
                for case .refused(let refusal) in await relay.submit(commands) {
                    throw ProgramError("the relay refused: \(refusal)")
                }
            }
        }
    }
}

extension Flag {
    static let frameActivities = Flag(
        "activities", .integer(1...1_000_000), default: "1000", "how many play a clip")
    static let frameSeconds = Flag(
        "seconds", .integer(1...3_600), default: "60", "how long it is measured")
}

extension Subcommand {
    static let benchFrames = Subcommand(
        path: ["frames"], summary: "Measure clips: ten frames a second on many activities",
        flags: [.benchEndpoint, .caFile, .frameActivities, .frameSeconds, .output],
        details: [
            "A whole relay with a log of its own plays flip-books in class lab and pushes every\n"
                + "frame, of 400 bytes, to the endpoint. Jitter is how long after its ideal moment\n"
                + "a frame was written; a moment without a frame counts as late by 100 ms. CPU is\n"
                + "of the whole process, while it is measured."
        ],
        examples: [
            "tombolo-bench frames --endpoint https://127.0.0.1:8443 --ca ca.pem --activities 5000"
        ], exits: [.unreachable], run: BenchFramesCommand.run)
}
