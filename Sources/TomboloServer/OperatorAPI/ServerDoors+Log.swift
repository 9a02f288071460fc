import TomboloAPI
import TomboloCore
import TomboloEventLog
import TomboloHTTP
import TomboloRelay

extension ServerDoors {
    private enum LogKind: String, CaseIterable {
        case command, fact, all
    }

    func listLog(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        try await page(for: request, bytes: IDPage.bytesMax) { () async throws(Problem) in
            try await readLog(request)
        }
    }

    private func readLog(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let kind = try logKind(request)
        let cursor = try logCursor(request, kind)
        let limit = try request.limit()
        let activity = try await activity(request)
        let (from, until) = (try request.instant("from"), try request.instant("until"))
        let only = try eventKind(request, kind)
        var commands: (entries: [LogEntry], next: Int64?) = ([], nil)
        var facts: (entries: [LogEntry], next: Int64?) = ([], nil)
        var names = ActivityNames(tenant: request.tenant)
        var damaged: [DamagedPlaces] = []
        do {
            if kind != .fact {
                var query = EventQuery(tenant: request.tenant)
                (query.after, query.limit, query.kind) = (cursor.command, limit, only)
                query.through = await relay.lastSeq(of: request.tenant)
                (query.activity, query.newest) = (activity?.number, activity?.seq)
                (query.from, query.until) = (from, until)
                let page = try await relay.events(query)
                commands = (await names.entries(page.events, relay), page.next)
                damaged += page.damaged.map { DamagedPlaces(kind: "command", $0) }
            }
            if kind != .command {
                var query = FactQuery(tenant: request.tenant)
                (query.after, query.activity, query.limit) = (cursor.fact, activity?.number, limit)
                (query.from, query.until) = (from, until)
                let page = try await relay.facts(query)
                facts = (await names.entries(page.facts, relay), page.next)
                damaged += page.damaged.map { DamagedPlaces(kind: "fact", $0) }
            }
        } catch {
            throw Problem(error)
        }
        let merge = LogMerge(
            commands: commands, facts: facts, after: cursor, limit: limit, damaged: damaged)
        return .json { merge.page.write(to: &$0) }
    }

    func showEvent(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let text = request.parameter("seq")
        guard let seq = Int64(text), seq > 0,
            let event = try await event(tenantSeq: seq, of: request.tenant)
        else {
            throw Problem(
                .unknownEvent, "The log has no event \(text). Look at GET /v1/log for those it has."
            )
        }
        var names = ActivityNames(tenant: request.tenant)
        let name = await names.name(of: event.event.activity, relay)
        return .json { LogEntry.command(event, activity: name).write(to: &$0) }
    }

    private func logKind(_ request: DoorRequest) throws(Problem) -> LogKind {
        guard let text = request.target["kind"] else { return .command }
        guard let kind = LogKind(rawValue: text) else {
            throw Problem(.invalidQuery, "kind=\(text) must be command, fact or all.")
        }
        return kind
    }

    private func logCursor(
        _ request: DoorRequest, _ kind: LogKind
    ) throws(Problem) -> LogCursor {
        let since = try request.integer("since", in: 0...Int64.max)
        if let text = request.target["cursor"] {
            guard let cursor = LogCursor(text) else {
                throw Problem(
                    .invalidQuery,
                    "cursor=\(text) is none that a page of this log gave as next_cursor.")
            }
            return cursor
        }
        var cursor = LogCursor()
        guard let since else { return cursor }
        switch kind {
        case .command: cursor.command = since
        case .fact: cursor.fact = since
        case .all:
            throw Problem(
                .invalidQuery,
                "Commands and facts are numbered apart: give since with kind=command or kind=fact.")
        }
        return cursor
    }

    /// `do=`: commands of one kind; facts do nothing.
    private func eventKind(
        _ request: DoorRequest, _ kind: LogKind
    ) throws(Problem) -> EventKind? {
        guard let text = request.target["do"] else { return nil }
        guard let event = EventKind(name: text), kind == .command else {
            throw Problem(
                .invalidQuery,
                "do=\(text) must be start, update, end, play or stop, and asks for commands alone.")
        }
        return event
    }

    private func activity(_ request: DoorRequest) async throws(Problem) -> ActivityView? {
        guard let id = try request.identifier(inQuery: "activity") else { return nil }
        let key = ActivityKey(tenant: request.tenant, id: id)
        guard let view = await relay.activity(key) else { throw Problem.unknownActivity(id) }
        return view
    }
}
