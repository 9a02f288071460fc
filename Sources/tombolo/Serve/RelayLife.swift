import Glibc
import TomboloCore
import TomboloRelay

/// When a relay began and why it ends: the first and the last line of its log. On the loop only.
final class RelayLife: @unchecked Sendable {
    // Sendable: used on the loop's thread only.

    let log: OperatorLog
    /// Which signal ends it.
    var signal: Int32?
    private var startedAt: Instant?

    init(_ log: OperatorLog) { self.log = log }

    /// It takes requests.
    func started(_ configuration: Configuration, at origin: Origin) {
        startedAt = SystemClock().now()
        let count = configuration.apps.count
        let apps = "\(count) app\(count == 1 ? "" : "s")"
        let text = "the relay takes requests at \(origin), for \(apps)"
        log.write(
            OperatorNote(.info, .started, text)
                .adding("version", Program.version)
                .adding("data", configuration.data)
                .adding("pid", "\(getpid())"))
    }

    /// It has ended: nil where it was asked to.
    func ended(_ error: ProgramError?) {
        let before = startedAt == nil ? "before it took requests" : "after \(age)"
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

    /// In whole minutes, beyond the first.
    private var age: String {
        guard let startedAt else { return "0s" }
        let seconds = max(0, (SystemClock().now() - startedAt).nanoseconds / 1_000_000_000)
        return Span.seconds(seconds < 60 ? seconds : seconds / 60 * 60).text
    }
}
