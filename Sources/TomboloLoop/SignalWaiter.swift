import CLinux
import Glibc

/// Waits on a loop for POSIX signals: SIGTERM, SIGINT, SIGCHLD, SIGWINCH. From `init` to `close()`
/// these signals have no other effect on the process. Each signal can have only one waiter at a
/// time. Signals of one kind that come close together may be reported once.
package final class SignalWaiter: ReadinessTarget, @unchecked Sendable {
    // Sendable: used on the loop's thread only; `loop.checkIsolated()` enforces it.

    private let loop: EpollLoop
    private let signals: [Int32]
    private let readEnd: Int32
    private let writeEnd: Int32
    private let parking: Parking
    private var arrived: [Int32] = []
    private var isClosed = false

    /// Starts watching. Must be called on the loop.
    package init(_ signals: [Int32], on loop: EpollLoop) throws(LoopError) {
        var ends: [Int32] = [-1, -1]
        guard tombolo_pipe(&ends) == 0 else { throw LoopError(call: "pipe2", errno: errno) }
        self.loop = loop
        self.signals = signals
        (readEnd, writeEnd) = (ends[0], ends[1])
        parking = Parking(loop)
        do throws(LoopError) {
            try loop.register(readEnd, .readable, self)
            for signal in signals {
                let code = tombolo_signal_watch(signal, writeEnd)
                guard code == 0 else { throw LoopError(call: "sigaction", errno: code) }
            }
        } catch {
            close()
            throw error
        }
    }

    /// Waits for the next signal. One task at a time. Throws `CancellationError` if the task is
    /// cancelled, and after `close()`.
    package func next() async throws -> Int32 {
        loop.checkIsolated()
        while arrived.isEmpty {
            guard !isClosed, await parking.park() == .signal else { throw CancellationError() }
        }
        return arrived.removeFirst()
    }

    /// Restores the signals' default action.
    package func close() {
        loop.checkIsolated()
        guard !isClosed else { return }
        isClosed = true
        for signal in signals { tombolo_signal_unwatch(signal, writeEnd) }
        loop.deregister(readEnd)
        Glibc.close(readEnd)
        Glibc.close(writeEnd)
        parking.unpark()
    }

    package func becameReady(_ readiness: Readiness) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 64) { buffer in
            while true {
                let count = read(readEnd, buffer.baseAddress, buffer.count)
                guard count > 0 else { break }
                for byte in buffer[..<count] where !arrived.contains(Int32(byte)) {
                    arrived.append(Int32(byte))
                }
            }
        }
        parking.unpark()
    }
}
