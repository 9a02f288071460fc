import Glibc
import TomboloCore
import TomboloHTTP
import TomboloLoop

/// What changes in a running relay: on SIGHUP it reads the configuration again, and takes other
/// push keys and another certificate into use. On the loop only.
final class ServeReload: @unchecked Sendable {
    // Sendable: used on the loop's thread only.

    private let context: CommandContext
    private let lanes: LaneSender
    private let service: RelayService
    /// What the relay runs with, but for its push keys.
    private let started: ConfigurationSources
    private var current: CheckedConfiguration

    /// How often the certificate's end is looked at.
    private static let certificatePeriod = Duration.seconds(24 * 60 * 60)

    init(
        _ context: CommandContext, _ sources: ConfigurationSources,
        _ checked: CheckedConfiguration, lanes: LaneSender, service: RelayService
    ) {
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
            for line in await reload() { context.terminal.complain("tombolo: \(line)\n") }
        }
    }

    /// Says once a day that the certificate has expired, or soon will.
    func watchCertificate() async throws {
        while true {
            try await context.loop.sleep(for: Self.certificatePeriod)
            guard let notice = current.certificateNotice(at: SystemClock().now()) else { continue }
            context.terminal.complain("tombolo: \(started.line(notice))\n")
        }
    }

    /// Answers at least one line. A file that cannot be read changes nothing.
    private func reload() async -> [String] {
        let sources: ConfigurationSources
        do {
            sources = try ConfigurationSources(context.invocation)
        } catch {
            return ["nothing is changed: \(error.line)"]
        }
        let lines =
            await lanes.rotate(sources, loop: context.loop) + certificate(sources)
            + sources.configuration.changesForRestart(since: started.configuration)
        return lines.isEmpty ? ["the configuration is read again: nothing has changed"] : lines
    }

    private func certificate(_ sources: ConfigurationSources) -> [String] {
        guard let files = sources.configuration.tls, current.tls != nil else { return [] }
        var findings: [ConfigurationFinding] = []
        guard let tls = CheckedConfiguration.tls(files, &findings) else {
            return findings.map { "the old certificate stays in use: \(sources.line($0))" }
        }
        guard tls.certificateChain != current.tls?.certificateChain else {
            return current.certificateNotice(at: SystemClock().now()).map { [sources.line($0)] }
                ?? []
        }
        service.reload(tls)
        current.tls = tls
        let end = Instant(seconds: tls.validity.upperBound).rfc3339
        return ["the certificate of \(files.certificate) is in use; it is valid until \(end)"]
    }
}
