import TomboloAPI
import TomboloCore
import TomboloEventLog
import TomboloRelay

/// One tail: its filter and its position.
struct Tail {
    /// Maximum number of rows, and of bytes, that are read at once. They stay in memory while a
    /// slow reader takes them.
    private static let page = 200
    private static let bytes = 128 << 10

    let format: TailFormat
    let filter: LogFilter
    let activity: Identifier?
    /// All rows of the tenant up to this position have been read.
    private(set) var cursor: LogCursor
    /// A place in the whole log: the events after the cursor come after it. nil: unknown.
    var logPlace: Int64?
    private var names: ActivityNames

    init(
        format: TailFormat, filter: LogFilter, cursor: LogCursor, activity: Identifier?,
        tenant: TenantID
    ) {
        self.format = format
        self.filter = filter
        self.cursor = cursor
        self.activity = activity
        names = ActivityNames(tenant: tenant)
    }

    /// Says which new rows wake the tail.
    var interest: LogInterest {
        LogInterest(
            takesCommands: filter.takesCommands,
            facts: filter.takesFacts ? filter.factKinds : [], activity: activity)
    }

    /// Moves the position past rows that do not match. A sequence that the tail does not read keeps
    /// its position.
    mutating func pass(_ reach: LogReach) {
        var place = cursor.place
        if filter.takesCommands { place.command = max(place.command, reach.place.command) }
        if filter.takesFacts { place.fact = max(place.fact, reach.place.fact) }
        cursor = LogCursor(cursor.log, place)
        logPlace = reach.seq
    }

    /// True if a sequence that the tail reads has rows after the position.
    func isBehind(_ newest: LogPlace) -> Bool {
        filter.takesCommands && cursor.place.command < newest.command
            || filter.takesFacts && cursor.place.fact < newest.fact
    }

    /// Returns the next matching rows as text, and moves the position past all rows that were read.
    mutating func read(_ relay: Relay, through newest: LogPlace) async throws -> [UInt8] {
        let commands = try await commands(relay, through: newest.command)
        let facts = try await facts(relay, through: newest.fact)
        let merge = LogMerge(
            commands: commands, facts: facts, after: cursor, limit: 2 * Self.page,
            end: LogPlace(
                command: filter.takesCommands ? newest.command : 0,
                fact: filter.takesFacts ? newest.fact : 0))
        let now = await relay.wallNow()
        var bytes: [UInt8] = []
        for (entry, cursor) in merge.entries where !Self.hasExpired(entry, now: now) {
            bytes += format.piece(entry, cursor, now: now)
        }
        cursor = merge.cursor
        return bytes
    }

    /// True for an action that has expired. It is left out, so that nobody carries it out late.
    private static func hasExpired(_ entry: LogEntry, now: Instant) -> Bool {
        guard case .fact(let fact, _, _) = entry else { return false }
        return ActionFact.hasExpired(fact.fact, now: now)
    }

    private mutating func commands(
        _ relay: Relay, through newest: Int64
    ) async throws -> (entries: [LogEntry], next: Int64?) {
        guard filter.takesCommands, cursor.place.command < newest else { return ([], nil) }
        var query = EventQuery(tenant: names.tenant)
        (query.after, query.place, query.through) = (cursor.place.command, logPlace, newest)
        (query.limit, query.bytesMax) = (Self.page, Self.bytes)
        let page = try await relay.events(query)
        let first = page.events.first?.tenantSeq
        let kept = await names.entries(page.events, relay, filter, only: activity)
        logPlace = page.next == nil ? nil : page.events.last?.seq
        return (
            LogMerge.sequence(
                "command", kept, damaged: page.damaged, after: cursor.place.command, first: first,
                at: page.events.first?.event.recordedAt),
            page.next
        )
    }

    private mutating func facts(
        _ relay: Relay, through newest: Int64
    ) async throws -> (entries: [LogEntry], next: Int64?) {
        guard filter.takesFacts, cursor.place.fact < newest else { return ([], nil) }
        var query = FactQuery(tenant: names.tenant)
        (query.after, query.before) = (cursor.place.fact, newest + 1)
        (query.limit, query.bytesMax) = (1, Self.bytes)
        // Get the oldest fact after the position first, to see a gap: matches may come much later.
        let oldest = try await relay.facts(query)
        query.limit = Self.page
        query.kinds = filter.factKinds
        let page = try await relay.facts(query)
        let kept = await names.entries(page.facts, relay, filter, only: activity, tellsGaps: true)
        return (
            LogMerge.sequence(
                "fact", kept, damaged: page.damaged, after: cursor.place.fact,
                first: oldest.facts.first?.tenantSeq ?? oldest.damaged.first?.lowerBound,
                at: oldest.facts.first?.fact.recordedAt),
            page.next
        )
    }
}
