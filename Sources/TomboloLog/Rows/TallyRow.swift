import TomboloCore
import TomboloEventLog

/// Up to which sequences something holds, of events and of facts.
struct TalliedUpTo: Hashable {
    var event: Int64 = 0
    var fact: Int64 = 0
}

/// A row of the table `tally`: how many events and facts a tenant has. That of tenant 0 says up to
/// which sequences the others are right.
enum TallyRow {
    private struct Numbers: BitwiseCopyable {
        var event: Int64
        var fact: Int64
    }

    private static let everybody: Int64 = 0

    /// Writes what is behind.
    static func write(
        _ seqs: inout TenantSeqs, upTo last: TalliedUpTo, into buffer: inout RowBuffer,
        _ engine: any LogWriting
    ) throws(EventLogError) {
        var rows = seqs.takeBehind(upTo: last).map {
            ($0.tenant, Numbers(event: $0.tally.event.last, fact: $0.tally.fact.last))
        }
        rows.append((everybody, Numbers(event: last.event, fact: last.fact)))
        for (tenant, numbers) in rows {
            try engine.put(.tally, tenant, buffer.row(.tally, tenant, numbers))
        }
    }

    /// What the table says; `isWhole` is false where a row of it is damaged.
    struct Content {
        var tallies: [Int64: (event: Int64, fact: Int64)] = [:]
        var tallied = TalliedUpTo()
        var isWhole = true
    }

    /// Reads all of it.
    static func read(_ engine: any LogReading) throws(EventLogError) -> Content {
        var content = Content()
        try engine.scan(.tally) { tenant, row in
            guard let numbers = numbers(tenant, row) else {
                content.isWhole = false
                return true
            }
            switch tenant {
            case everybody:
                content.tallied = TalliedUpTo(event: numbers.event, fact: numbers.fact)
            default: content.tallies[tenant] = (numbers.event, numbers.fact)
            }
            return true
        }
        return content
    }

    private static func numbers(_ tenant: Int64, _ row: RawSpan) -> Numbers? {
        guard let numbers = RowChecksum.numbers(.tally, tenant, row, as: Numbers.self),
            (0...LogTable.numberMax).contains(numbers.event),
            (0...LogTable.numberMax).contains(numbers.fact)
        else { return nil }
        return numbers
    }
}

extension TenantSeqs {
    /// As a log of `last` sequences has them: the table `tally`, and the rows after it. `damage`
    /// hears where a row of the table is damaged: tenants then go on after the log's newest, which
    /// no place of theirs is beyond.
    static func recover(
        _ tenants: Tenants, last: TalliedUpTo, _ engine: any LogReading,
        damage: (String) -> Void
    ) throws(EventLogError) -> TenantSeqs {
        let content = try TallyRow.read(engine)
        var tallies: [Int64: Tally] = [:]
        for (tenant, row) in content.tallies {
            tallies[tenant] = Tally(event: Count(last: row.event), fact: Count(last: row.fact))
        }
        if content.isWhole {
            try count(&tallies, after: content.tallied, engine)
        } else {
            damage("how many events each tenant has: a row is damaged, and each goes on after all")
            for tenant in tenants.all {
                tallies[tenant] = Tally(
                    event: Count(last: last.event), fact: Count(last: last.fact))
            }
        }
        var seqs = TenantSeqs()
        for (tenant, found) in tallies {
            var tally = found
            for kind in [Kind.event, .fact] {
                let newest = try Waypoint.newest(kind, tenant, upTo: .max, engine)
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
        _ engine: any LogReading
    ) throws(EventLogError) {
        try engine.scan(.event, after: tallied.event) { seq, row in
            guard let numbers = EventRow.unproved(row) else { return true }
            let isRight = EventRow.numbers(seq, row) != nil
            let known = tallies[numbers.tenant]?.event.last
            guard isRight || known != nil else { return true }
            let last = isRight ? EventRow.tenantSeq(numbers, row, at: seq) : (known ?? 0) + 1
            tallies[numbers.tenant, default: Tally()].event.last = max(known ?? 0, last)
            return true
        }
        try engine.scan(.fact, after: tallied.fact) { seq, row in
            guard let (tenant, tenantSeq) = FactRow.place(seq, row) else { return true }
            let known = tallies[tenant]?.fact.last ?? 0
            tallies[tenant, default: Tally()].fact.last = max(known, tenantSeq)
            return true
        }
    }
}
