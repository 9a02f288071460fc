import Glibc
import TomboloCore
import TomboloHTTP
import TomboloLoop
import TomboloRelay

/// What changes in a running relay: on SIGHUP it reads the configuration again, and takes other
/// push keys and another certificate into use. On the loop only.
final class ServeReload: @unchecked Sendable {
    // Sendable: used on the loop's thread only.

    private let context: CommandContext
    private let lanes: LaneSender
    private let service: RelayService
    private let log: OperatorLog
    /// What the relay runs with, but for its push keys.
    private let started: ConfigurationSources
    private var current: CheckedConfiguration

    /// How often the certificate's end is looked at.
    private static let certificatePeriod = Duration.seconds(24 * 60 * 60)

    init(
        _ context: CommandContext, _ sources: ConfigurationSources,
        _ checked: CheckedConfiguration, lanes: LaneSender, service: RelayService,
        log: OperatorLog
    ) {
        self.log = log
        self.context = context
        self.lanes = lanes
        self.service = service
        started = sources
        current = checked
    }

    /// Until it is cancelled.
    func runOnSignal() async throws {
        let signals = try SignalWaiter([SIGHUP], on: context.loop)
        defer { signals.close() }
        while true {
            _ = try await signals.next()
            for note in await reload() { log.write(note) }
        }
    }

    /// Says once a day that the certificate has expired, or soon will.
    func watchCertificate() async throws {
        while true {
            try await context.loop.sleep(for: Self.certificatePeriod)
            guard let notice = current.certificateNotice(at: SystemClock().now()) else { continue }
            log.write(started.note(notice))
        }
    }

    /// Answers at least one note. A file that cannot be read changes nothing.
    private func reload() async -> [OperatorNote] {
        let sources: ConfigurationSources
        do {
            sources = try ConfigurationSources(context.invocation)
        } catch {
            return [
                OperatorNote(
                    .error, .configurationRefused, "nothing is changed: \(error.cause)",
                    remedy: error.remedy)
            ]
        }
        let notes =
            await lanes.rotate(sources, loop: context.loop) + certificate(sources)
            + sources.configuration.changesForRestart(since: started.configuration).map {
                OperatorNote(.warning, .configurationNeedsRestart, $0)
            }
        let nothing = "the configuration is read again: nothing has changed"
        return notes.isEmpty ? [OperatorNote(.info, .configurationApplied, nothing)] : notes
    }

    private func certificate(_ sources: ConfigurationSources) -> [OperatorNote] {
        guard let files = sources.configuration.tls, current.tls != nil else { return [] }
        var findings: [ConfigurationFinding] = []
        guard let tls = CheckedConfiguration.tls(files, &findings) else {
            return findings.map { finding in
                OperatorNote(
                    .error, .configurationRefused,
                    "the old certificate stays in use: \(sources.text(finding))",
                    remedy: finding.remedy)
            }
        }
        guard tls.certificateChain != current.tls?.certificateChain else {
            return current.certificateNotice(at: SystemClock().now()).map { [sources.note($0)] }
                ?? []
        }
        service.reload(tls)
        current.tls = tls
        let end = Instant(seconds: tls.validity.upperBound).rfc3339
        return [
            OperatorNote(
                .info, .configurationApplied,
                "the certificate of \(files.certificate) is in use; it is valid until \(end)")
        ]
    }
}
