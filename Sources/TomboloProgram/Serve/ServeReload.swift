import Glibc
import TomboloCore
import TomboloHTTP
import TomboloLoop
import TomboloRelay

/// Reloads the configuration of a running relay, after SIGHUP or an API request. It applies changed
/// push keys and a changed certificate. Used on the loop only.
final class ServeReload: @unchecked Sendable {
    // Sendable: used on the loop's thread only.

    private let context: CommandContext
    private let manager: Supervisor
    private let upstreams: UpstreamSender
    private let service: RelayService
    private let log: OperatorLog
    private let started: ConfigurationSources
    private var current: CheckedConfiguration
    private var isReloading = false

    /// How often the certificate's end is checked.
    private static let certificatePeriod = Duration.seconds(24 * 60 * 60)

    init(
        _ context: CommandContext, _ manager: Supervisor, _ sources: ConfigurationSources,
        _ checked: CheckedConfiguration, upstreams: UpstreamSender, service: RelayService,
        log: OperatorLog
    ) {
        (self.log, self.context, self.manager) = (log, context, manager)
        (self.upstreams, self.service) = (upstreams, service)
        started = sources
        current = checked
    }

    /// Reloads after each signal, until the task is cancelled. A signal that comes before the start
    /// or during another reload takes effect afterwards.
    func run(on hangUps: SignalWaiter) async throws {
        while true {
            _ = try await hangUps.next()
            while isReloading { try await context.loop.sleep(for: .milliseconds(10)) }
            _ = await reload()
        }
    }

    /// Warns once a day if the certificate has expired or soon will.
    func watchCertificate() async throws {
        while true {
            try await context.loop.sleep(for: Self.certificatePeriod)
            guard let notice = current.certificateNotice(at: SystemClock().now()) else { continue }
            log.write(started.note(notice))
        }
    }

    /// Reloads, logs the notes and returns them; there is at least one. If a file cannot be read,
    /// nothing changes. Only one reload runs at a time; another one is refused.
    ///
    /// - Parameter isDryRun: true to apply nothing and write nothing to the log.
    func reload(isDryRun: Bool = false) async -> [OperatorNote] {
        guard !isReloading else {
            return [
                OperatorNote(
                    .warning, .configurationRefused,
                    "nothing is changed: another reload is under way",
                    remedy: "once more in a minute")
            ]
        }
        isReloading = true
        defer { isReloading = false }
        if !isDryRun { await manager.reloading(on: context.loop) }
        let notes = await apply(isDryRun: isDryRun)
        if !isDryRun { await manager.ready(on: context.loop) }
        // If the task was cancelled, the relay stops and answers are incomplete: log nothing.
        if !isDryRun, !Task.isCancelled { for note in notes { log.write(note) } }
        return notes
    }

    private static let nothing = OperatorNote(
        .info, .configurationApplied, "the configuration is read again: nothing has changed")

    private func restarts(_ sources: ConfigurationSources) -> [OperatorNote] {
        sources.configuration.changesForRestart(since: started.configuration).map {
            OperatorNote(.warning, .configurationNeedsRestart, $0)
        }
    }

    /// Applies the certificate first, because Apple's answers about keys may take long. A dry run
    /// does the same checks, but does not ask Apple.
    private func apply(isDryRun: Bool) async -> [OperatorNote] {
        let sources: ConfigurationSources
        do {
            sources = try ConfigurationSources(context.invocation, socket: manager.address)
        } catch {
            return [Self.refused("nothing is changed: \(error.cause)", error.remedy)]
        }
        let modes = started.configuration.data.map { DataModes($0, isDryRun: isDryRun) }
        if let finding = modes?.findings.first {
            return [Self.refused("nothing is changed: \(finding.cause)", finding.remedy)]
        }
        var notes = modes?.notes ?? []
        notes += certificate(sources, isDryRun: isDryRun)
        notes += await upstreams.rotate(sources, loop: context.loop, isDryRun: isDryRun)
        notes += restarts(sources)
        return notes.isEmpty ? [Self.nothing] : notes
    }

    private static func refused(_ text: String, _ remedy: String?) -> OperatorNote {
        OperatorNote(.error, .configurationRefused, text, remedy: remedy)
    }

    private func stays(
        _ finding: ConfigurationFinding, _ sources: ConfigurationSources
    ) -> OperatorNote {
        Self.refused("the old certificate stays in use: \(sources.text(finding))", finding.remedy)
    }

    private func certificate(
        _ sources: ConfigurationSources, isDryRun: Bool
    ) -> [OperatorNote] {
        guard let files = sources.configuration.tls, current.tls != nil else { return [] }
        var findings: [ConfigurationFinding] = []
        guard let tls = CheckedConfiguration.tls(files, &findings) else {
            return findings.map { stays($0, sources) }
        }
        guard tls.certificateChain != current.tls?.certificateChain else {
            return current.certificateNotice(at: SystemClock().now()).map { [sources.note($0)] }
                ?? []
        }
        let now = SystemClock().now()
        var next = current
        next.tls = tls
        let notice = next.certificateNotice(at: now)
        if let notice, !tls.validity.contains(now.seconds),
            current.tls?.validity.contains(now.seconds) == true
        {
            return [stays(notice, sources)]
        }
        if !isDryRun {
            service.reload(tls)
            current.tls = tls
        }
        let end = Instant(seconds: tls.validity.upperBound).rfc3339
        let isTaken = isDryRun ? "would be applied" : "is in use"
        return [
            OperatorNote(
                .info, .configurationApplied,
                "the certificate of \(files.certificate) \(isTaken); it is valid until \(end)")
        ] + (notice.map { [sources.note($0)] } ?? [])
    }
}
