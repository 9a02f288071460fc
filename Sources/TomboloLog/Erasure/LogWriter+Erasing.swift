import TomboloCore
package import TomboloEventLog

extension LogWriter {
    /// How long readers are waited for when what was erased leaves the files.
    private static let truncationMilliseconds: Int32 = 500

    /// Begins one that goes on piece by piece; nil where there is nothing of that tenant.
    package func begin(_ erasure: LogErasure) throws(EventLogError) -> LogErasing? {
        if failure == nil, !isRecovered { _ = try recover(idempotencySince: .distantPast) }
        if let failure { throw failure }
        guard let tenant = standing.tenantTable.known(erasure.tenant) else { return nil }
        return LogErasing(erasure, tenant: tenant)
    }

    /// Does its next piece, in a transaction of its own.
    package func piece(of erasing: inout LogErasing) throws(EventLogError) {
        // Rows of heads are what is looked at.
        writeLaterHeads()
        try transaction { () throws(EventLogError) in
            try erasing.piece(of: self)
            if !erasing.erasure.isTrial { window.forget() }
        }
    }

    /// Takes it out of the files, as far as readers allow.
    package func finish(_ erasing: LogErasing) throws(EventLogError) -> LogErased {
        if let failure { throw failure }
        var receipt = erasing.receipt
        guard !erasing.erasure.isTrial else { return receipt }
        do throws(EventLogError) {
            if receipt.facts > 0 { retainer.count(try FactSizes(engine)) }
            receipt.isOutOfFile = try engine.scrub(waiting: Self.truncationMilliseconds)
            return receipt
        } catch {
            throw abandon(error, back: standing.savepoint)
        }
    }

    /// Takes in what another log has left of an activity that was erased there.
    func bury(_ activity: ActivityNumber, on day: Int64) throws(EventLogError) {
        try transaction { () throws(EventLogError) in
            let mark = standing.marks.mark(activity.rawValue)
            try rows.bury(activity.rawValue, mark, on: day, nameHash: nil)
            standing.marks.set(activity.rawValue, nil)
        }
    }

    private func transaction(_ body: () throws(EventLogError) -> Void) throws(EventLogError) {
        if let failure { throw failure }
        let start = standing.savepoint
        do throws(EventLogError) {
            try body()
            try engine.commit()
            standing.settle()
            rows.settle()
        } catch {
            throw abandon(error, back: start)
        }
    }
}
