import TomboloAPI
import TomboloCore
import TomboloEventLog
import TomboloRelay

extension ServerDoors {
    func listLog(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        try await page(for: request, bytes: IDPage.bytesMax) { () async throws(Problem) in
            try await readLog(request)
        }
    }

    private func readLog(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let filter = try LogFilter(request)
        let first = LogCursor(await relay.logID(of: request.tenant), .none)
        let cursor = try await logCursor(request, filter.kind) ?? first
        let limit = try request.limit()
        let activity = try await activity(request)
        let (from, until) = (try request.instant("from"), try request.instant("until"))
        let only = try eventKind(request, filter.kind)
        var commands: (entries: [LogEntry], next: Int64?) = ([], nil)
        var facts: (entries: [LogEntry], next: Int64?) = ([], nil)
        var names = ActivityNames(tenant: request.tenant)
        do {
            if filter.takesCommands {
                var query = EventQuery(tenant: request.tenant)
                (query.after, query.limit, query.kind) = (cursor.place.command, limit, only)
                query.through = await relay.lastSeq(of: request.tenant)
                (query.activity, query.newest) = (activity?.number, activity?.seq)
                (query.from, query.until) = (from, until)
                let page = try await relay.events(query)
                let kept = await names.entries(page.events, relay, filter)
                commands = (LogMerge.sequence("command", kept, damaged: page.damaged), page.next)
            }
            if filter.takesFacts {
                var query = FactQuery(tenant: request.tenant)
                (query.after, query.limit) = (cursor.place.fact, limit)
                (query.activity, query.recipient) = (activity?.number, filter.recipient)
                query.kinds = filter.facts
                // Leave out facts that are in the log but that the relay has not processed yet.
                query.before = await relay.place(of: request.tenant).fact + 1
                (query.from, query.until) = (from, until)
                let page = try await relay.facts(query)
                let kept = await names.entries(page.facts, relay, filter)
                facts = (LogMerge.sequence("fact", kept, damaged: page.damaged), page.next)
            }
        } catch {
            throw Problem(error)
        }
        let merge = LogMerge(commands: commands, facts: facts, after: cursor, limit: limit)
        let now = await relay.wallNow()
        return .json { merge.page.write(to: &$0, now: now) }
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
        let cursor = try await cursor(event.tenantSeq, "seq", request, .command)
        return .json {
            LogEntry.command(event, activity: name).write(
                to: &$0, cursor: cursor, now: event.event.recordedAt)
        }
    }

    /// The position at which a page or a tail begins: `cursor`, or `since`, the `seq` of a command
    /// or fact. Nil if the request has neither.
    func logCursor(_ request: DoorRequest, _ kind: LogKind) async throws(Problem) -> LogCursor? {
        let since = try request.integer("since", in: 0...Int64.max)
        // No answer has "0" as its cursor, but many clients follow a log from there.
        if let text = request.target["cursor"], text != "0" {
            guard let cursor = LogCursor(text) else {
                throw Problem(
                    .invalidQuery,
                    "cursor=\(text) is not a cursor of this log. \(Self.cursorSource)")
            }
            return try await checked(cursor, "cursor=\(text)", request)
        }
        guard let since = request.target["cursor"] == nil ? since : 0 else { return nil }
        let asked = try await cursor(since, "since", request, kind)
        return try await checked(asked, "since=\(since)", request)
    }

    /// Sentence that says where a client gets a cursor.
    static let cursorSource =
        "Give one as an answer, a page or a tail gave it (`cursor` or `next_cursor`)."

    /// Throws if the cursor belongs to another log, or if it is ahead of this log. With such a
    /// cursor, a reader would miss rows.
    ///
    /// - Parameter asked: the cursor as the request wrote it, for the error text.
    func checked(
        _ cursor: LogCursor, _ asked: String, _ request: DoorRequest
    ) async throws(Problem) -> LogCursor {
        guard await relay.logID(of: request.tenant) == cursor.log else {
            throw Problem(
                .cursorOfAnotherLog,
                "The cursor \(cursor.text) belongs to another log: this one was restored from a backup, "
                    + "or is a new one. Read what you follow with GET, then begin without a cursor."
            )
        }
        let newest = LogCursor(cursor.log, await relay.place(of: request.tenant))
        guard cursor.place.command <= newest.place.command,
            cursor.place.fact <= newest.place.fact
        else {
            throw Problem(
                .positionAheadOfLog,
                "\(asked) is ahead of the log: its newest command is \(newest.place.command), and "
                    + "its newest fact \(newest.place.fact), and each kind has its own numbers. "
                    + "Where the number is right, the log was put back to an older copy: read what "
                    + "you follow with GET, then go on from \"newest\"."
            ).adding("newest", newest.text)
        }
        return cursor
    }

    /// Makes a cursor from the `seq` of a command or fact. The other sequence starts from its
    /// beginning, so that nothing is skipped. 0 is the beginning of both.
    func cursor(
        _ number: Int64, _ name: String, _ request: DoorRequest, _ kind: LogKind
    ) async throws(Problem) -> LogCursor {
        var cursor = LogCursor(await relay.logID(of: request.tenant), .none)
        switch kind {
        case .command: cursor.place.command = number
        case .fact: cursor.place.fact = number
        case .all where number == 0: break
        case .all:
            throw Problem(
                .invalidQuery,
                "\(name): \(number) is the number of a command or of a fact, which are counted apart. "
                    + "Give a cursor, or kind=command or kind=fact.")
        }
        return cursor
    }

    /// The query parameter `do`: a kind of commands. Refused unless only commands are requested.
    private func eventKind(_ request: DoorRequest, _ kind: LogKind) throws(Problem) -> EventKind? {
        let words = EventKind.allCases.map(\.name)
        guard let word = try request.word("do", among: words) else { return nil }
        guard kind == .command else {
            throw Problem(.invalidQuery, "do=\(word) chooses commands: give kind=command.")
        }
        return EventKind(name: word)
    }

    private func activity(_ request: DoorRequest) async throws(Problem) -> ActivityView? {
        guard let id = try request.identifier(inQuery: "activity") else { return nil }
        return try await known(ActivityKey(tenant: request.tenant, id: id))
    }
}
