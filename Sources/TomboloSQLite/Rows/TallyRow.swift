import TomboloCore

/// Up to which sequences something holds, of events and of facts.
struct TalliedUpTo: Hashable {
    var event: Int64 = 0
    var fact: Int64 = 0
}

/// A row of the table `tally`: how many events and facts a tenant has. That of tenant 0 says up to
/// which sequences the others are right.
enum TallyRow {
    static let schema = """
        CREATE TABLE tally(
            tenant INTEGER PRIMARY KEY, event INTEGER NOT NULL, fact INTEGER NOT NULL,
            crc INTEGER NOT NULL);
        """
    static let replacement =
        "INSERT OR REPLACE INTO tally(tenant, event, fact, crc) VALUES(?1,?2,?3,?4)"
    private static let everybody: Int64 = 0

    private static func replace(
        _ tenant: Int64, _ event: Int64, _ fact: Int64, with statement: borrowing Statement
    ) throws(SQLiteError) {
        statement.bind(tenant, at: 1)
        statement.bind(event, at: 2)
        statement.bind(fact, at: 3)
        statement.bind(checksum(tenant, event, fact), at: 4)
        try statement.execute()
    }

    /// Writes what is behind.
    static func write(
        _ seqs: inout TenantSeqs, upTo last: TalliedUpTo, with statement: borrowing Statement
    ) throws(SQLiteError) {
        for (tenant, tally) in seqs.takeBehind(upTo: last) {
            try replace(tenant, tally.event.last, tally.fact.last, with: statement)
        }
        try replace(everybody, last.event, last.fact, with: statement)
    }

    /// What the table says; `isWhole` is false where a row of it is damaged.
    struct Content {
        var tallies: [Int64: (event: Int64, fact: Int64)] = [:]
        var tallied = TalliedUpTo()
        var isWhole = true
    }

    /// Reads all of it.
    static func read(_ connection: borrowing Connection) throws(SQLiteError) -> Content {
        var content = Content()
        let rows = try connection.prepare("SELECT tenant, event, fact, crc FROM tally")
        while try rows.step() {
            let (tenant, event, fact) = (rows.integer(0), rows.integer(1), rows.integer(2))
            guard checksum(tenant, event, fact) == rows.integer(3),
                (0...LogSchema.numberMax).contains(event), (0...LogSchema.numberMax).contains(fact)
            else {
                content.isWhole = false
                continue
            }
            switch tenant {
            case everybody: content.tallied = TalliedUpTo(event: event, fact: fact)
            default: content.tallies[tenant] = (event, fact)
            }
        }
        return content
    }

    private static func checksum(_ tenant: Int64, _ event: Int64, _ fact: Int64) -> Int64 {
        var sum = RowChecksum(.tally)
        sum.add((tenant, event, fact))
        return sum.stored
    }
}

extension TenantSeqs {
    /// As a log of `last` sequences has them: the table `tally`, and the rows after it. `damage`
    /// hears where a row of the table is damaged: tenants then go on after the log's newest, which
    /// no place of theirs is beyond.
    static func recover(
        _ tenants: Tenants, last: TalliedUpTo, _ connection: borrowing Connection,
        damage: (String) -> Void
    ) throws(SQLiteError) -> TenantSeqs {
        let content = try TallyRow.read(connection)
        var tallies: [Int64: Tally] = [:]
        for (tenant, row) in content.tallies {
            (tallies[tenant, default: Tally()].event.last) = row.event
            (tallies[tenant, default: Tally()].fact.last) = row.fact
        }
        if content.isWhole {
            try count(&tallies, after: content.tallied, connection)
        } else {
            damage("how many events each tenant has: a row is damaged, and each goes on after all")
            for tenant in tenants.all {
                tallies[tenant] = Tally(
                    event: Count(last: last.event), fact: Count(last: last.fact))
            }
        }
        var seqs = TenantSeqs()
        let selection = try connection.prepare(Waypoint.selectionBefore)
        for (tenant, found) in tallies {
            var tally = found
            for kind in [Kind.event, .fact] {
                let newest = try Waypoint.newest(kind, tenant, upTo: .max, with: selection)
                tally[kind].gap = newest.map { $0.seq - $0.tenantSeq } ?? 0
            }
            if !content.isWhole { (tally.event.gap, tally.fact.gap) = (.max, .max) }
            seqs.recover(tenant, tally)
        }
        seqs.recover(content.isWhole ? content.tallied : TalliedUpTo())
        return seqs
    }

    /// A damaged row counts for the tenant that it names.
    private static func count(
        _ tallies: inout [Int64: Tally], after tallied: TalliedUpTo,
        _ connection: borrowing Connection
    ) throws(SQLiteError) {
        let bound = "AND seq <= \(LogSchema.numberMax) ORDER BY seq"
        let events = try connection.prepare(
            "SELECT \(EventRow.columns) FROM event WHERE seq > \(tallied.event) \(bound)")
        while try events.step() {
            let (seq, row) = (events.integer(0), events.bytes(1))
            guard let numbers = EventRow.unproved(row) else { continue }
            let isRight = EventRow.numbers(seq, row) != nil
            let known = tallies[numbers.tenant]?.event.last
            guard isRight || known != nil else { continue }
            let last = isRight ? EventRow.tenantSeq(numbers, row, at: seq) : (known ?? 0) + 1
            tallies[numbers.tenant, default: Tally()].event.last = max(known ?? 0, last)
        }
        let facts = try connection.prepare(
            "SELECT \(FactRow.columns) FROM fact WHERE seq > \(tallied.fact) \(bound)")
        while try facts.step() {
            guard let (tenant, tenantSeq) = FactRow.place(facts) else { continue }
            let known = tallies[tenant]?.fact.last ?? 0
            tallies[tenant, default: Tally()].fact.last = max(known, tenantSeq)
        }
    }
}
