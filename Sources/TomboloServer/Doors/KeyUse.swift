import TomboloAPI
import TomboloHTTP
import TomboloLoop
import TomboloRelay

/// What one key has in hand: one client takes no more of the relay than its share. On the loop
/// only.
///
/// Requests and tails beyond the limit are refused. Pages of the log are read a few at a time, and
/// those beyond wait for their turn: a thousand tails of one key else fill memory with pages, and
/// keep the log's reader from everybody else.
final class KeyUse: @unchecked Sendable {
    // Sendable: used on the loop's thread only.

    private(set) var requests = 0
    private(set) var tails = 0
    private var pages = 0
    private var waiting: [Parking] = []

    /// How many wait for a page.
    var waitingCount: Int { waiting.count }

    /// A request begins. Throws `overloaded` where there are too many.
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

    /// It has ended.
    func end(isTail: Bool) {
        requests -= 1
        if isTail { tails -= 1 }
    }

    /// Waits until a page may be read for the key, in the order of asking. Answers false where the
    /// wait was cancelled; else `endPage` follows.
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

    /// The page is read: the next one has its turn.
    func endPage() {
        guard !waiting.isEmpty else {
            pages -= 1
            return
        }
        waiting.removeFirst().unpark()
    }
}

extension DoorRequest {
    /// Throws `overloaded` where the connection leaves so much unread that an answer of so many
    /// bytes has no room.
    func checkRoom(for bytes: Int) throws(Problem) {
        guard exchange.hasRoom(for: bytes) else {
            throw Problem(
                .overloaded,
                "The connection leaves too many answers unread. Read them, then ask again.")
        }
    }
}

extension ServerDoors {
    /// Makes a large answer, such as a page of the log, when it is the key's turn, unless nobody
    /// waits for it any more, or the connection leaves too much unread.
    ///
    /// - Parameter bytes: what the answer may have; 0 for one that is sent as a stream.
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
