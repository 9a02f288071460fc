import TomboloAPI
import TomboloCore
import TomboloEventLog
import TomboloHTTP
import TomboloLoop
import TomboloRelay

extension ServerDoors {
    /// Events read from the log at once, or so many bytes: what a tail holds for a slow reader.
    private static let tailPage = 200
    private static let tailBytes = 128 << 10
    /// How soon a silent tail notices that the relay stops.
    private static let tailPatience = Duration.seconds(1)

    /// `GET /v1/tail`: the log from a place on, and what is added to it, for as long as the peer
    /// reads.
    ///
    /// Every event comes out of the log, also the live ones: nothing is lost between history and
    /// now.
    func tail(
        _ request: DoorRequest, _ exchange: HTTPExchange
    ) async throws(Problem) -> DoorResponse? {
        let format = TailFormat(accept: request.head.fields["accept"])
        var tail = Tail(
            format: format, after: try await start(request), request: request,
            activity: try request.identifier(inQuery: "activity"))
        let fields: HTTPFields = [
            "content-type": format.contentType, "cache-control": "no-store",
        ]
        if request.head.method == "HEAD" {
            return DoorResponse(status: 200, fields: fields, body: [])
        }
        begin(exchange, request, fields)
        do {
            try await follow(&tail, request, exchange)
        } catch {
            // The log failed, or nobody reads: the reader comes back with its Last-Event-ID.
        }
        exchange.finish()
        return nil
    }

    private struct Tail {
        let format: TailFormat
        /// The tenant's events up to there were looked at.
        var after: Int64
        /// Those after it are behind this place of the log.
        var place: Int64?
        let activity: Identifier?
        let type: String?
        var names: ActivityNames

        init(format: TailFormat, after: Int64, request: DoorRequest, activity: Identifier?) {
            self.format = format
            self.after = after
            self.activity = activity
            type = request.target["type"]
            names = ActivityNames(tenant: request.tenant)
        }
    }

    /// After which event: `since`, or what the reader had last, or now.
    private func start(_ request: DoorRequest) async throws(Problem) -> Int64 {
        let since = try request.integer("since", in: 0...Int64.max)
        if let field = request.head.fields["last-event-id"] {
            guard let seq = Int64(field), seq >= 0 else {
                throw Problem(
                    .invalidHeader, "Last-Event-ID: \(field) must be the id of an event: a number.")
            }
            return seq
        }
        if let since { return since }
        return await relay.lastSeq(of: request.tenant)
    }

    private func follow(
        _ tail: inout Tail, _ request: DoorRequest, _ exchange: HTTPExchange
    ) async throws {
        var beat = loop.now + configuration.heartbeat
        while !isDraining, !exchange.isPeerGone {
            // A key that is deleted reads nothing more.
            try request.checkKey()
            let newest = await relay.lastSeq
            // Asked after `newest`: what is behind that place comes after this one.
            let through = await relay.lastSeq(of: request.tenant)
            if through > tail.after {
                let piece = try await turn(&tail, through: through, request)
                try request.checkKey()
                guard !piece.isEmpty else { continue }
                try await exchange.write(piece)
                beat = loop.now + configuration.heartbeat
                continue
            }
            tail.place = newest
            if loop.now >= beat {
                try await exchange.write(tail.format.heartbeat)
                beat = loop.now + configuration.heartbeat
            }
            let patience = min(beat, loop.now + Self.tailPatience)
            _ = await relay.waitForCommit(after: newest, deadline: patience)
        }
    }

    /// Reads when it is the key's turn.
    private func turn(
        _ tail: inout Tail, through newest: Int64, _ request: DoorRequest
    ) async throws -> [UInt8] {
        var next = tail
        let piece = try await page(for: request) { () async throws(Problem) in
            do { return try await read(&next, through: newest) } catch {
                throw error as? Problem ?? Problem(.logUnreadable, "\(error)")
            }
        }
        tail = next
        return piece
    }

    /// The next events that are asked for, written; moves `after` past all that were looked at.
    private func read(_ tail: inout Tail, through newest: Int64) async throws -> [UInt8] {
        var query = EventQuery(tenant: tail.names.tenant)
        (query.after, query.place, query.through) = (tail.after, tail.place, newest)
        query.limit = Self.tailPage
        query.bytesMax = Self.tailBytes
        let page = try await relay.events(query)
        var bytes: [UInt8] = []
        var damaged = page.damaged[...]
        for event in page.events {
            while let places = damaged.first, places.upperBound < event.tenantSeq {
                bytes += tail.format.piece(DamagedPlaces(kind: "command", places))
                damaged.removeFirst()
            }
            let number = event.event.activity
            let name = await tail.names.name(of: number, relay)
            if let activity = tail.activity, name != activity { continue }
            if let type = tail.type, await tail.names.type(of: number, relay) != type { continue }
            bytes += tail.format.piece(event, activity: name)
        }
        for places in damaged {
            bytes += tail.format.piece(DamagedPlaces(kind: "command", places))
        }
        // What was damaged or cut was looked at too.
        tail.after = page.next ?? newest
        if let last = page.events.last { tail.place = last.seq }
        return bytes
    }
}
