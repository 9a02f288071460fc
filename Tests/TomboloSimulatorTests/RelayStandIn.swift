import TomboloHTTP
import TomboloJSON
import TomboloLoop

/// What a phone sees of a relay: an HTTP/2 server that keeps what it is told.
final class RelayStandIn: HTTPHandler, @unchecked Sendable {  // used on its loop only
    struct NotTold: Error {
        let path: String
    }

    private(set) var told: [(path: String, body: JSON)] = []
    private(set) var authorizations: Set<String> = []
    /// Answers by path; 204 else.
    var statuses: [String: Int] = [:]
    private let parking: Parking

    init(_ loop: EpollLoop) { parking = Parking(loop) }

    func handle(_ exchange: HTTPExchange) async {
        do throws(HTTPExchangeError) {
            let body = try await exchange.body(atMost: 65_536)
            let path = exchange.head.method + " " + exchange.head.target
            authorizations.insert(exchange.head.fields["authorization"] ?? "")
            told.append((path, JSON(unchecked: body)))
            exchange.respond(statuses[path] ?? 204, [:], [])
            parking.unpark()
        } catch {}
    }

    /// The newest body told at a path, as soon as it has the member.
    func wait(for path: String, _ accept: (JSONView) -> Bool = { _ in true }) async throws -> JSON {
        let deadline = parking.loop.now + .seconds(20)
        while true {
            if let last = told.last(where: { $0.path == path }), accept(last.body.document.root) {
                return last.body
            }
            guard await parking.park(until: deadline) == .signal else { throw NotTold(path: path) }
        }
    }
}
