import Glibc
import TomboloLoop

/// True once a signal asks a command to end. Used on the loop only.
final class StopFlag: @unchecked Sendable {
    // Sendable: used on the loop's thread only.
    fileprivate(set) var isSet = false

    /// Throws `CancellationError` if it is set.
    func throwIfSet() throws { if isSet { throw CancellationError() } }
}

extension CommandContext {
    /// Runs `body`. The first SIGTERM or SIGINT sets its flag, so that it can end in order. The
    /// next one ends the process.
    func untilSignal<Result>(
        _ body: (StopFlag) async throws -> Result
    ) async throws -> Result {
        let signals = try SignalWaiter([SIGTERM, SIGINT], on: loop)
        defer { signals.close() }
        let stop = StopFlag()
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                _ = try await signals.next()
                stop.isSet = true
                signals.close()
                terminal.complain("ending in order; press Ctrl-C again to leave at once\n")
            }
            defer { group.cancelAll() }
            return try await body(stop)
        }
    }
}
