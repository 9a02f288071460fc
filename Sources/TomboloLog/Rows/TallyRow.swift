import TomboloCore
import TomboloEventLog

/// A row of the table `tally`: how many events and facts a tenant has. The row of tenant 0 holds
/// the sequences up to which the other rows have counted.
enum TallyRow {
    static let everybody: Int64 = 0

    /// The whole table. `isWhole` is false if one of its rows is damaged.
    struct Table {
        private(set) var tallies: [Int64: ByKind<Int64>] = [:]
        private(set) var tallied = ByKind<Int64>(event: 0, fact: 0)
        private(set) var isWhole = true

        /// The table of an empty log.
        init() {}

        init(_ engine: any LogReading) throws(EventLogError) {
            let range = 0...LogTable.numberMax
            try engine.scan(.tally) { tenant, row in
                if let found = RowChecksum.numbers(.tally, tenant, row, as: ByKind<Int64>.self),
                    range.contains(found.event), range.contains(found.fact)
                {
                    tallies[tenant] = found
                } else {
                    isWhole = false
                }
                return true
            }
            tallied = tallies.removeValue(forKey: everybody) ?? tallied
        }
    }
}

extension TenantSeqs {
    /// Counts the rows of a log whose newest sequences are `last`: from the table `tally`, and from
    /// the later rows. Calls `damage` if a row of the table is damaged. In this case all tenants
    /// continue after the log's newest sequence, which is above all their places.
    init(
        _ tenants: Tenants, last: ByKind<Int64>, _ engine: any LogReading,
        damage: (String) -> Void
    ) throws(EventLogError) {
        let table = try TallyRow.Table(engine)
        var places = table.tallies
        if table.isWhole {
            tallied = table.tallied
            try Self.count(&places, after: tallied, engine)
        } else {
            damage("how many events each tenant has: a row is damaged, and each goes on after all")
            for tenant in tenants.all { places[tenant] = last }
        }
        let shards = Set(try engine.shards(of: .waypoint))
        for (tenant, places) in places {
            var tally = ByKind(event: Count(last: places.event), fact: Count(last: places.fact))
            for kind in Kind.allCases {
                let isThere = shards.contains(Waypoint.shard(kind, tenant))
                let newest =
                    isThere ? try Waypoint.newest(kind, tenant, upTo: .max, engine) : nil
                let gap = newest.map { $0.seq - $0.tenantSeq } ?? 0
                tally[kind].gap = table.isWhole ? gap : .max
            }
            set(tenant, tally)
        }
    }

    /// Counts the rows after `tallied`. A damaged row counts for the tenant whose number it holds.
    private static func count(
        _ places: inout [Int64: ByKind<Int64>], after tallied: ByKind<Int64>,
        _ engine: any LogReading
    ) throws(EventLogError) {
        let none = ByKind<Int64>(event: 0, fact: 0)
        try engine.scan(.event, after: tallied.event) { seq, row in
            guard let numbers = EventRow.unproved(row) else { return true }
            let isRight = EventRow.numbers(seq, row) != nil
            let known = places[numbers.tenant]?.event
            guard isRight || known != nil else { return true }
            let last = isRight ? EventRow.tenantSeq(numbers, row, at: seq) : (known ?? 0) + 1
            places[numbers.tenant, default: none].event = max(known ?? 0, last)
            return true
        }
        try engine.scan(.fact, after: tallied.fact) { seq, row in
            guard let (tenant, tenantSeq) = FactRow.place(seq, row) else { return true }
            let known = places[tenant]?.fact ?? 0
            places[tenant, default: none].fact = max(known, tenantSeq)
            return true
        }
    }
}
