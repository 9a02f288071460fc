import Glibc
import TomboloAPNs
import TomboloCore
import TomboloCrypto
import TomboloJSON
import TomboloLoop
import TomboloProgram

/// Device tokens and content state for a benchmark's pushes.
struct PushMaterial {
    let tokens: [String]
    let state: JSON
}

/// Keeps as many pushes in flight as the upstream allows, up to a window, until each one is
/// accepted or refused.
///
/// `@unchecked Sendable`: used on the loop's thread only; the push client calls it there.
final class PushLoad: PushOutcomeReceiver, TurnTarget, @unchecked Sendable {
    var client: APNsClient?

    private let count: Int
    private let window: Int
    private let material: PushMaterial
    private let loop: EpollLoop
    private let done: Parking

    private var handedOver = 0
    private var inFlight = 0
    private var capacity = 0
    private var accepted = 0
    private(set) var errors = 0
    private var notSent = 0
    private var unknown = 0
    /// Numbers of the pushes to send again.
    @exclusivity(unchecked) private var again: [UInt64] = []
    private var isTurnNoted = false
    /// The content of the pushes. Its timestamp is updated once per turn.
    @exclusivity(unchecked) private var content: Payload.Content
    private let uuidStart: [UInt8]
    /// For each push, the microseconds from `send` to its answer.
    @exclusivity(unchecked) private var latencies: [UInt32] = []

    init(count: Int, window: Int, material: PushMaterial, loop: EpollLoop) {
        (self.count, self.window, self.material) = (count, window, material)
        content = Payload.Content(
            timestamp: SystemClock().now().seconds, event: .update, state: material.state)
        self.loop = loop
        done = Parking(loop)
        let random = Hex.encode(RandomBytes.make(16))
        uuidStart = Array("\(random.prefix(8))-0000-4000-8000-000000000000".utf8)
        latencies.reserveCapacity(count)
    }

    /// Returns when every push is accepted or refused. Throws if no connection opens in time,
    /// because the client itself would try for ever.
    func untilDone(connectedWithin patience: Duration) async throws {
        let deadline = loop.now + patience
        var isConnected = false
        while accepted + errors < count {
            switch await done.park(until: isConnected ? .distantFuture : deadline) {
            case .signal: break
            case .cancelled: throw CancellationError()
            case .deadline:
                isConnected = accepted + errors > 0 || client?.isWarm == true
                guard isConnected else {
                    throw ProgramError(
                        "the endpoint takes no connection",
                        remedy: "start what listens there, or give another --endpoint or --ca",
                        status: .unreachable)
                }
            }
        }
    }

    func capacityChanged(upstream: UpstreamNumber, to capacity: Int) {
        self.capacity = capacity
        noteTurn()
    }

    func pushEnded(_ outcome: PushOutcome) {
        inFlight -= 1
        noteTurn()
        switch outcome.result {
        case .accepted:
            accepted += 1
            latencies.append(UInt32(clamping: outcome.took.nanoseconds / 1_000))
            // Send the next push now: it reuses memory that is still in the CPU cache.
            sendIfThereIsRoom()
        case .rejected: errors += 1
        case .notSent:
            notSent += 1
            again.append(outcome.push.rawValue)
        case .unknown:
            unknown += 1
            again.append(outcome.push.rawValue)
        }
        if accepted + errors == count { done.unpark() }
    }

    private func noteTurn() {
        guard !isTurnNoted else { return }
        isTurnNoted = true
        loop.atEndOfTurn(self)
    }

    func turnEnded() {
        isTurnNoted = false
        content.timestamp = SystemClock().now().seconds
        while sendIfThereIsRoom() {}
    }

    @discardableResult
    private func sendIfThereIsRoom() -> Bool {
        guard inFlight < min(window, capacity), let number = again.popLast() ?? nextNumber() else {
            return false
        }
        inFlight += 1
        client?.send(push(number))
        return true
    }

    private func nextNumber() -> UInt64? {
        guard handedOver < count else { return nil }
        handedOver += 1
        return UInt64(handedOver - 1)
    }

    private func push(_ number: UInt64) -> Push {
        Push(
            id: PushID(number), upstream: UpstreamNumber(0), event: .update,
            token: material.tokens[Int(number % UInt64(material.tokens.count))],
            apnsID: uuid(number), priority: 10, expiration: 0, payload: Payload.encode(content))
    }

    /// An `apns-id` that is unique within this run and among runs: a random start, then a counter.
    private func uuid(_ number: UInt64) -> String {
        String(unsafeUninitializedCapacity: 36) { text in
            _ = text.initialize(from: uuidStart)
            var rest = number
            for index in stride(from: 35, to: 23, by: -1) {
                let digit = UInt8(truncatingIfNeeded: rest & 15)
                text[index] = digit < 10 ? 48 + digit : 87 + digit
                rest >>= 4
            }
            return 36
        }
    }

    // MARK: Report

    /// The result as one JSON line for scripts.
    func report(seconds: Double, sentBytes: UInt64) -> JSON {
        var usage = rusage()
        getrusage(__rusage_who_t(0), &usage)
        let cpu = Self.seconds(usage.ru_utime) + Self.seconds(usage.ru_stime)
        latencies.sort()
        return JSON.object { writer in
            writer.member("pushes", Int64(accepted))
            writer.member("errors", Int64(errors))
            writer.member("seconds", Self.rounded(seconds))
            writer.member("cpu_us_per_push", Self.rounded(cpu * 1e6 / Double(count)))
            writer.member("bytes_per_push", Self.rounded(Double(sentBytes) / Double(count)))
            writer.member("rss_mb", Self.rounded(Double(usage.ru_maxrss) / 1_024))
            writer.member("p50_ms", percentile(50))
            writer.member("p99_ms", percentile(99))
            writer.member("again_not_sent", Int64(notSent))
            writer.member("again_unknown", Int64(unknown))
        }
    }

    private func percentile(_ part: Int) -> Double {
        guard !latencies.isEmpty else { return 0 }
        return Double(latencies[(latencies.count - 1) * part / 100]) / 1_000
    }

    private static func seconds(_ time: timeval) -> Double {
        Double(time.tv_sec) + Double(time.tv_usec) / 1e6
    }

    private static func rounded(_ value: Double) -> Double { (value * 1_000).rounded() / 1_000 }
}
