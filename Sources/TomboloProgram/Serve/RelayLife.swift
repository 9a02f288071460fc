import Glibc
import TomboloCore
import TomboloLoop
import TomboloRelay

/// Logs when a relay began and why it ended. Used on the loop only.
final class RelayLife: @unchecked Sendable {
    // Sendable: used on the loop's thread only.

    let log: OperatorLog
    /// The signal that stopped the relay; nil if none did.
    var signal: Int32?
    private let loop: any Loop
    private var startedAt: MonotonicInstant?

    init(_ log: OperatorLog, loop: any Loop) { (self.log, self.loop) = (log, loop) }

    /// Logs that the relay accepts requests.
    func started(_ configuration: Configuration, at origin: Origin) {
        startedAt = loop.now
        let count = configuration.apps.count
        let apps = "\(count) app\(count == 1 ? "" : "s")"
        let text = "the relay takes requests at \(origin), for \(apps)"
        log.write(
            OperatorNote(.info, .started, text)
                .adding("version", Program.version)
                .adding("data", configuration.data)
                .adding("pid", "\(getpid())"))
    }

    /// Logs that another relay owns the log.
    func waits(_ text: String, at origin: Origin) {
        log.write(OperatorNote(.info, .waiting, "the relay at \(origin) \(text)"))
    }

    /// Logs that the relay has ended. `error` is nil if it was stopped on request.
    func ended(_ error: ProgramError?) {
        let before = startedAt == nil ? "before it took requests" : "after \(age.roundedText)"
        guard let error else {
            let cause = signal.map { $0 == SIGINT ? "by SIGINT" : "by SIGTERM" } ?? "as asked"
            return log.write(
                OperatorNote(
                    .info, .stopped,
                    "the relay has ended \(cause), \(before): what it accepted is stored"))
        }
        log.write(
            OperatorNote(
                .error, .stopped, "the relay has ended, \(before): \(error.cause)",
                remedy: error.remedy))
    }

    /// How long the relay has run by the loop's clock, because the wall clock may jump. After the
    /// first minute, in whole minutes.
    private var age: Span {
        guard let startedAt else { return .zero }
        let seconds = (loop.now.nanoseconds - startedAt.nanoseconds) / 1_000_000_000
        return .seconds(seconds < 60 ? seconds : seconds / 60 * 60)
    }
}
