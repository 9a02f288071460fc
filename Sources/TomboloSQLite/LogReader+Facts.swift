import TomboloCore
import TomboloEventLog

// Over the facts, in either order.

extension LogReader {
    /// Where a walk has come.
    private struct FactWalk {
        let query: FactQuery
        let tenant: Int64
        var page = FactPage(facts: [], next: nil)
        /// Rows of the tenant that were looked at, and the place of the last of them.
        var rows = 0
        var place: Int64
        var isDone = false
    }

    func scan(_ query: FactQuery, tenant: Int64) throws(SQLiteError) -> FactPage {
        let first = max(try place(.fact, tenant, after: query.after), try integer(factCut)) + 1
        let last = try integer(lastFactSeq)
        switch query.order {
        case .oldestFirst: return try scanUp(query, tenant, first: first, last: last)
        case .newestFirst: return try scanDown(query, tenant, first: first, last: last)
        }
    }

    private func scanUp(
        _ query: FactQuery, _ tenant: Int64, first: Int64, last: Int64
    ) throws(SQLiteError) -> FactPage {
        var walk = FactWalk(query: query, tenant: tenant, place: query.after)
        var position = first - 1
        while !walk.isDone, position < last {
            let rows = walk.rows
            let end = position + Waypoint.spacing
            try read(factsUp, after: position, through: end, &walk)
            position = end
            guard walk.rows == rows else { continue }
            switch try leap(.fact, tenant, after: walk.place, from: position) {
            case .to(let seq): position = seq
            case .nothing: return walk.page
            case .none: break
            }
        }
        return walk.page
    }

    private func scanDown(
        _ query: FactQuery, _ tenant: Int64, first: Int64, last: Int64
    ) throws(SQLiteError) -> FactPage {
        var walk = FactWalk(query: query, tenant: tenant, place: query.before ?? .max)
        var position = min(last, try end(tenant, before: query.before))
        while !walk.isDone, position >= first {
            let rows = walk.rows
            let start = max(first - 1, position - Waypoint.spacing)
            try read(factsDown, after: start, through: position, &walk)
            position = start
            if walk.rows == rows, walk.place < .max {
                position = min(position, try end(tenant, before: walk.place))
            }
        }
        return walk.page
    }

    /// A place of the log up to which all facts of the tenant are that come before its own place
    /// `tenantSeq`, and few others behind those.
    private func end(_ tenant: Int64, before tenantSeq: Int64?) throws(SQLiteError) -> Int64 {
        guard let tenantSeq, tenantSeq <= LogSchema.numberMax else { return .max }
        let start = try place(.fact, tenant, after: max(tenantSeq, 1) - 1)
        factsUp.bind(start, at: 1)
        factsUp.bind(start + 1, at: 2)
        factsUp.bind(tenant, at: 3)
        defer { factsUp.reset() }
        if try factsUp.step(), let next = FactRow.place(factsUp), next.tenantSeq == tenantSeq {
            return start
        }
        return start + Waypoint.spacing + 1
    }

    /// Looks at the tenant's rows behind `start` up to and with `end`, in the statement's order,
    /// until the page is full or enough were looked at.
    private func read(
        _ rows: borrowing Statement, after start: Int64, through end: Int64, _ walk: inout FactWalk
    ) throws(SQLiteError) {
        rows.bind(start, at: 1)
        rows.bind(end, at: 2)
        rows.bind(walk.tenant, at: 3)
        defer { rows.reset() }
        while try rows.step() {
            guard let fact = FactRow.fact(rows, tenants: tenants) else {
                damage.add("fact \(rows.integer(0)): its row is damaged")
                continue
            }
            try look(at: fact, &walk)
            if walk.isDone { return }
        }
    }

    private func look(at fact: RecordedFact, _ walk: inout FactWalk) throws(SQLiteError) {
        let query = walk.query
        guard fact.tenantSeq > query.after else {
            walk.isDone = query.order == .newestFirst
            return
        }
        guard fact.tenantSeq < query.before ?? .max else {
            walk.isDone = query.order == .oldestFirst
            return
        }
        // One more than is asked for shows only that there is more.
        if walk.page.isFull(query) || walk.rows >= query.scanMax {
            walk.page.next = walk.place
            walk.isDone = true
            return
        }
        (walk.rows, walk.place) = (walk.rows + 1, fact.tenantSeq)
        if query.matches(fact.fact) { walk.page.append(fact) }
    }
}
