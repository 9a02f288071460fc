import TomboloAPI
import TomboloCore
import TomboloHTTP
import TomboloLoop
import TomboloRelay

extension ServerDoors {
    /// `GET /v1/tail`: sends the log from a position on, and then each new row, as long as the
    /// client reads. Old and new rows are both read from the log, so nothing is lost between them.
    func tail(_ request: DoorRequest) async throws(Problem) -> DoorResponse? {
        let format = TailFormat(accept: request.head.fields["accept"])
        let filter = try LogFilter(request)
        var tail = Tail(
            format: format, filter: filter, cursor: try await start(request, filter.kind),
            activity: try request.identifier(inQuery: "activity"), tenant: request.tenant)
        let fields: HTTPFields = [
            "content-type": format.contentType, "cache-control": "no-store",
            "tombolo-cursor": tail.cursor.text, "x-accel-buffering": "no",
        ]
        if request.head.method == "HEAD" {
            return DoorResponse(status: 200, fields: fields, body: [])
        }
        begin(request, fields)
        do {
            try await request.exchange.write(format.beginning(tail.cursor))
            try await follow(&tail, request)
        } catch {
            // The log failed or the client is gone. A client reconnects with its Last-Event-ID.
        }
        request.exchange.finish()
        return nil
    }

    /// Where the tail begins: after the client's last event, at `cursor` or `since`, or at the end.
    private func start(_ request: DoorRequest, _ kind: LogKind) async throws(Problem) -> LogCursor {
        let asked = try await logCursor(request, kind)
        if let field = request.head.fields["last-event-id"] {
            let name = "Last-Event-ID: \(field)"
            if let cursor = LogCursor(field) { return try await checked(cursor, name, request) }
            guard let seq = Int64(field), seq >= 0 else {
                throw Problem(.invalidHeader, "\(name) must be the id of an event of this tail.")
            }
            let place = try await cursor(seq, "Last-Event-ID", request, kind)
            return try await checked(place, name, request)
        }
        if let asked { return asked }
        return LogCursor(
            await relay.logID(of: request.tenant), await relay.place(of: request.tenant))
    }

    private func follow(_ tail: inout Tail, _ request: DoorRequest) async throws {
        let exchange = request.exchange
        var beat = loop.now + configuration.heartbeat
        while !isDraining, !exchange.isPeerGone {
            // Check repeatedly: a deleted key must not read on.
            try request.checkKey()
            let newest = await relay.reach(of: request.tenant)
            let place = newest.place
            if tail.isBehind(place) {
                let piece = try await turn(&tail, through: place, request)
                try request.checkKey()
                guard !piece.isEmpty else { continue }
                try await exchange.write(piece)
                beat = loop.now + configuration.heartbeat
                continue
            }
            tail.pass(newest)
            if loop.now >= beat {
                try await exchange.write(tail.format.heartbeat)
                beat = loop.now + configuration.heartbeat
            }
            let reach = await relay.waitForRow(tail.interest, of: request.tenant, after: place) {
                [self, beat] in
                isDraining || loop.now >= beat || exchange.isPeerGone || !request.isKeyValid
            }
            if let reach { tail.pass(reach) }
        }
    }

    /// Reads the next rows when it is the key's turn among other readers.
    private func turn(
        _ tail: inout Tail, through newest: LogPlace, _ request: DoorRequest
    ) async throws -> [UInt8] {
        var next = tail
        let piece = try await page(for: request) { () async throws(Problem) in
            do { return try await next.read(relay, through: newest) } catch {
                throw error as? Problem ?? Problem(.logUnreadable, "\(error)")
            }
        }
        tail = next
        return piece
    }
}
