import Glibc
package import TomboloLoop

/// A program that a test starts, and what it writes to stdout, read on a loop.
///
/// `@unchecked Sendable`: it is used on its loop only.
package final class SubprocessOutput: ReadinessTarget, @unchecked Sendable {
    private let process: Subprocess
    private let loop: EpollLoop
    private let parking: Parking
    /// All that has come.
    package private(set) var collected: [UInt8] = []
    /// It has closed its stdout.
    package private(set) var hasEnded = false

    /// `withErrors`: what it writes to stderr comes too.
    package init(
        _ program: String, _ arguments: [String], on loop: EpollLoop, withErrors: Bool = true
    ) throws {
        process = try Subprocess(
            program, arguments,
            streams: withErrors ? [1: .pipe, 2: .sameAs(1)] : [1: .pipe])
        self.loop = loop
        parking = Parking(loop)
        _ = fcntl(process.descriptor(1), F_SETFL, O_NONBLOCK)
        try loop.register(process.descriptor(1), .readable, self)
    }

    /// Ends it at once, and waits for its end.
    package func end() { process.end() }

    /// Waits until `condition` holds of what has come, or nothing more comes.
    @discardableResult
    package func wait(until condition: (String) -> Bool = { _ in false }) async -> String {
        while true {
            let text = String(decoding: collected, as: UTF8.self)
            if hasEnded || condition(text) { return text }
            await parking.park()
        }
    }

    package func becameReady(_ readiness: Readiness) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = read(process.descriptor(1), &buffer, buffer.count)
        if count > 0 {
            collected += buffer[..<count]
        } else if count == 0 || errno != EAGAIN {
            hasEnded = true
            loop.deregister(process.descriptor(1))
        }
        parking.unpark()
    }
}
