import TomboloAPI
import TomboloHTTP
import TomboloLoop
import TomboloRelay

/// The open requests of one key, so that one client takes no more than its share. Used on the loop
/// only.
///
/// Requests and tails beyond the limit are refused. Only a few pages of the log are read at a time,
/// others wait: a thousand tails of one key could otherwise fill the memory with pages and block
/// the log's reader for all others.
final class KeyUse: @unchecked Sendable {
    // Sendable: used on the loop's thread only.

    private(set) var requests = 0
    private(set) var tails = 0
    private var pages = 0
    private var waiting: [Parking] = []

    /// The number of reads that wait for a page.
    var waitingCount: Int { waiting.count }

    /// Begins a request. Throws `overloaded` if the key has too many.
    func begin(isTail: Bool, _ limits: DoorsConfiguration) throws(Problem) {
        guard requests < limits.requestsPerKeyMax else {
            throw Problem(
                .overloaded,
                "The key has \(limits.requestsPerKeyMax) requests open. Wait for their answers, or "
                    + "raise limits.requests_per_key in the relay's configuration.")
        }
        guard !isTail || tails < limits.tailsPerKeyMax else {
            throw Problem(
                .overloaded,
                "The key has \(limits.tailsPerKeyMax) tails open. Close one, or raise "
                    + "limits.tails_per_key in the relay's configuration.")
        }
        requests += 1
        if isTail { tails += 1 }
    }

    /// Ends a request.
    func end(isTail: Bool) {
        requests -= 1
        if isTail { tails -= 1 }
    }

    /// Waits until a page may be read for the key, in order of arrival. Returns false if the wait
    /// was cancelled; else `endPage` must follow.
    func beginPage(_ pagesMax: Int, on loop: any Loop) async -> Bool {
        guard pages >= pagesMax else {
            pages += 1
            return true
        }
        let place = Parking(loop)
        waiting.append(place)
        let wake = await place.park()
        guard wake == .cancelled, let index = waiting.firstIndex(where: { $0 === place }) else {
            return true
        }
        waiting.remove(at: index)
        return false
    }

    /// Ends the read of a page, and starts the next one.
    func endPage() {
        guard !waiting.isEmpty else {
            pages -= 1
            return
        }
        waiting.removeFirst().unpark()
    }
}

extension DoorRequest {
    /// Throws `overloaded` if an answer of so many bytes does not fit, because the client has left
    /// too many bytes unread.
    func checkRoom(for bytes: Int) throws(Problem) {
        guard exchange.hasRoom(for: bytes) else {
            throw Problem(
                .overloaded,
                "The connection leaves too many answers unread. Read them, then ask again.")
        }
    }
}

extension ServerDoors {
    /// Makes a large answer, such as a page of the log, at the key's turn. Throws if the client is
    /// gone or has left too many bytes unread.
    ///
    /// - Parameter bytes: largest size of the answer; 0 for a streamed one.
    func page<Value>(
        for request: DoorRequest, bytes: Int = 0, _ read: () async throws(Problem) -> Value
    ) async throws(Problem) -> Value {
        guard let use = request.use, let key = request.principal?.keyID else {
            return try await read()
        }
        guard await use.beginPage(configuration.pagesPerKeyMax, on: loop) else {
            throw Problem(.stopping, "The relay stops. Ask again.")
        }
        defer { use.endPage() }
        guard await relay.pieces.enter(key) else {
            throw Problem(.stopping, "The relay stops. Ask again.")
        }
        guard !request.exchange.isPeerGone else {
            throw Problem(.overloaded, "Nobody waits for the answer.")
        }
        try request.checkRoom(for: bytes)
        let value = try await read()
        await relay.noteDamage()
        return value
    }
}
