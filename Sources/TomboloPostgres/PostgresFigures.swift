import Synchronization

/// Seconds on a clock that never goes back, from an arbitrary start. Any thread may call it.
package typealias PostgresClock = @Sendable () -> Double

/// What the clock says that the relay's own time follows: the name of its origin (one boot of the
/// machine; empty: unknown), and the time since then.
package typealias PostgresReading = (boot: String, nanoseconds: Int64)

/// Figures of the server for operators, as they were last read.
package final class PostgresFigures: Sendable {
    /// The figures at one moment.
    package struct View: Sendable {
        /// Median time of the newest commits, in seconds.
        package var commitMedian = 0.0
        package var commitP99 = 0.0
        /// Where a commit is stored before the server confirms it, as set in the server.
        package var durability = ""
        /// Bytes of the log's tables, with their indexes.
        package var bytes: Int64 = 0
        /// Rows that were replaced or deleted and still take space.
        package var deadRows: Int64 = 0
        /// Age of the oldest snapshot, as a number of transactions. Rows that were replaced since
        /// then cannot be removed yet.
        package var oldestSnapshot: Int64 = 0
        /// Number of relays that wait for this log; nil until it was read.
        package var standbys: Int64?

        init() {}
    }

    private struct State {
        var view = View()
        var times: [Double] = []
        var next = 0
    }

    private static let timesMax = 1_000
    private let state = Mutex(State())

    let clock: PostgresClock

    init(_ clock: @escaping PostgresClock) { self.clock = clock }

    /// Adds the time that a commit took.
    func note(_ seconds: Double) {
        state.withLock { state in
            if state.times.count < Self.timesMax {
                state.times.append(seconds)
            } else {
                state.times[state.next] = seconds
                state.next = (state.next + 1) % Self.timesMax
            }
        }
    }

    /// Replaces the figures, except the times of commits.
    func set(_ view: View) { state.withLock { $0.view = view } }

    package var view: View {
        var (view, times) = state.withLock { ($0.view, $0.times) }
        times.sort()
        guard !times.isEmpty else { return view }
        (view.commitMedian, view.commitP99) = (
            times[times.count / 2], times[times.count * 99 / 100]
        )
        return view
    }
}
