import Synchronization

/// The time since some moment, on a clock that nobody sets. Any thread may ask.
package typealias PostgresClock = @Sendable () -> Double

/// What operators see of the server, as it was seen last.
package final class PostgresFigures: Sendable {
    /// All of it at one moment.
    package struct View: Sendable {
        /// Of the newest commits: how long one took, in seconds.
        package var commitMedian = 0.0
        package var commitP99 = 0.0
        /// Where a commit is before it is acknowledged, by the server's own settings.
        package var durability = ""
        /// Bytes of the log's tables, their indexes included.
        package var bytes: Int64 = 0
        /// Rows that were replaced or deleted and whose room is not free yet.
        package var deadRows: Int64 = 0
        /// How many transactions ago the oldest snapshot was taken that somebody holds: no row
        /// that was replaced since leaves its table.
        package var oldestSnapshot: Int64 = 0

        init() {}
    }

    private struct State {
        var view = View()
        var times: [Double] = []
        var next = 0
    }

    private static let timesMax = 1_000
    private let state = Mutex(State())

    /// In seconds.
    let clock: PostgresClock

    init(_ clock: @escaping PostgresClock) { self.clock = clock }

    /// A commit took so long.
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

    func set(durability: String, bytes: Int64, deadRows: Int64, oldestSnapshot: Int64) {
        state.withLock { state in
            state.view.durability = durability
            (state.view.bytes, state.view.deadRows) = (bytes, deadRows)
            state.view.oldestSnapshot = oldestSnapshot
        }
    }

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
