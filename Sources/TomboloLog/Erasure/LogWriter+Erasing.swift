import TomboloCore
package import TomboloEventLog

extension LogWriter {
    /// How long to wait for readers before erased data is removed from the files.
    private static let truncationMilliseconds: Int32 = 500

    /// Begins an erasure; continue it with `piece(of:)`. Returns nil if the tenant is unknown.
    package func begin(_ erasure: LogErasure) throws(EventLogError) -> LogErasing? {
        if failure == nil, !isRecovered { _ = try recover(idempotencySince: .distantPast) }
        if let failure { throw failure }
        guard let tenant = standing.tenantTable.known(erasure.tenant) else { return nil }
        return LogErasing(erasure, tenant: tenant)
    }

    /// Does the next piece of an erasure, in its own transaction.
    package func piece(of erasing: inout LogErasing) throws(EventLogError) {
        // The erasure reads rows of heads, so write the delayed ones first.
        writeLaterHeads()
        try transaction { () throws(EventLogError) in
            try erasing.piece(of: self)
            if !erasing.erasure.isTrial { window.forget() }
        }
    }

    /// Ends the erasure: removes the erased data from the files if no reader prevents it.
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

    /// Copies the tombstone of an activity that was erased in another log.
    func bury(_ activity: ActivityNumber, on day: Int64) throws(EventLogError) {
        try transaction { () throws(EventLogError) in
            let position = standing.positions.position(activity.rawValue)
            try rows.bury(activity.rawValue, position, on: day, nameHash: nil)
            standing.positions.set(activity.rawValue, nil)
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
