import TomboloLoop

/// How long a request has taken, without the time in which the relay waited because of the client:
/// for the rest of a body, and for a delivery that the client has asked to see (`Prefer: wait=`).
/// It is as exact as the loop's clock, which does not move within a turn. Used on the loop only.
final class RequestTime: @unchecked Sendable {
    // Sendable: used on the loop's thread only.

    private let loop: any Loop
    private let began: MonotonicInstant
    private var waited = Duration.zero

    /// Begins now.
    init(_ loop: any Loop) { (self.loop, began) = (loop, loop.now) }

    /// The time until now that counts.
    var taken: Duration { loop.now - began - waited }

    /// Runs a wait that does not count.
    func leavingOut<Value, Failure>(
        _ wait: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let start = loop.now
        defer { waited += loop.now - start }
        return try await wait()
    }
}
