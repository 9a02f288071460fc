import TomboloLoop

@testable import TomboloHTTP

/// Any bytes as what a client sends to a server, which finds out whether it is HTTP/1.1 or HTTP/2,
/// answers at once, later, or never, and is cut off at the end: every exchange is told of its end.
///
/// Run by `deploy/fuzz server` with bytes of the fuzzer's choice, by a test with those that it
/// kept.
func fuzzServer(_ bytes: [UInt8]) {
    guard let first = bytes.first else { return }
    let rig = FuzzedServer()
    let size = Int(first % 64) + 1
    var rest = bytes.dropFirst()
    while !rest.isEmpty, rig.stream.isOpen {
        rig.receive(rest.prefix(size))
        rest = rest.dropFirst(size)
    }
    rig.finish()
}

/// A loop whose time stands still and on which nothing runs by itself.
private final class StillLoop: Loop {
    let now = MonotonicInstant(nanoseconds: 1_000_000_000)

    func schedule(at: MonotonicInstant, _ target: any TimerTarget) -> TimerID { TimerID() }
    func cancel(_ id: TimerID) {}
    func enqueue(_ job: consuming ExecutorJob) { preconditionFailure("nothing waits here") }
    func checkIsolated() {}
}

/// What would be a socket.
private final class MemoryStream: ByteStream {
    private(set) var isOpen = true
    private(set) var wantsFill = false
    var isPaused = false
    var sentBytes: UInt64 = 0
    let unsentBytes = 0
    let applicationProtocol: String? = nil
    let peerDescription = "memory"

    func wantsOutput() { wantsFill = true }
    func pauseReading() { isPaused = true }
    func resumeReading() { isPaused = false }
    func close() { isOpen = false }
    func abort() { isOpen = false }
    func filled() { wantsFill = false }
}

private final class FuzzedServer: HTTPServerConnectionOwner, @unchecked Sendable {
    // Sendable: one thread alone has it.
    let stream = MemoryStream()
    private let output = OutputBuffer()
    private var connection: HTTPServerConnection?
    private var waiting: [HTTPExchange] = []
    private var slow: [HTTPExchange] = []

    init() {
        let connection = HTTPServerConnection(
            id: 1, stream: stream, peerAddress: "127.0.0.1", isSecure: false, loop: StillLoop(),
            limits: HTTPServerLimits(), server: self)
        self.connection = connection
        connection.opened()
    }

    func requested(_ exchange: HTTPExchange) {
        waiting.append(exchange)
    }

    func opened(_ connection: HTTPServerConnection) {}
    func closed(_ connection: HTTPServerConnection, wasOpened: Bool) {}

    func receive(_ bytes: ArraySlice<UInt8>) {
        guard !stream.isPaused else { return answer() }
        bytes.withUnsafeBytes { connection?.received($0) }
        answer()
        flush()
    }

    /// Some at once with a body, some as a stream, some by a reset, some not before the end.
    private func answer() {
        let exchanges = waiting
        waiting = []
        for exchange in exchanges {
            switch exchange.head.target.utf8.count % 4 {
            case 0: exchange.respond(200, ["x": "y"], [UInt8](repeating: 65, count: 100))
            case 1:
                exchange.begin(404, [:])
                exchange.finish()
            case 2: exchange.reset(code: 2)
            default:
                slow.append(exchange)
                continue
            }
            exchange.handlerReturned()
        }
    }

    private func flush() {
        for _ in 0..<64 where stream.wantsFill {
            stream.filled()
            output.removeAll()
            connection?.fillOutput(output)
            stream.sentBytes += UInt64(output.count)
        }
    }

    func finish() {
        connection?.timerFired()
        connection?.drain()
        flush()
        connection?.closed(nil)
        connection = nil
        for exchange in waiting + slow { exchange.handlerReturned() }
        waiting = []
        slow = []
    }
}
