import Synchronization

/// Seconds since an arbitrary moment, on a steady clock. Any thread may call it.
package typealias PostgresClock = @Sendable () -> Double

/// Figures of the server for operators, as last read.
package final class PostgresFigures: Sendable {
    /// The figures at one moment.
    package struct View: Sendable {
        /// Duration of the newest commits, in seconds.
        package var commitMedian = 0.0
        package var commitP99 = 0.0
        /// Where a commit is stored before it is acknowledged, by the server's own settings.
        package var durability = ""
        /// Bytes of the log's tables, including indexes.
        package var bytes: Int64 = 0
        /// Replaced or deleted rows whose space is not free yet.
        package var deadRows: Int64 = 0
        /// Age of the oldest snapshot in transactions: rows replaced since then cannot be removed.
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

    /// Clock in seconds.
    let clock: PostgresClock

    init(_ clock: @escaping PostgresClock) { self.clock = clock }

    /// Adds the duration of a commit.
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
