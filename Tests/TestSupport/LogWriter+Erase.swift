package import TomboloEventLog
package import TomboloLog

extension LogWriter {
    /// Erases all of it at once, where the log's own thread goes on piece by piece.
    package func erase(_ erasure: LogErasure) throws(EventLogError) -> LogErased {
        guard var erasing = try begin(erasure) else { return LogErased() }
        while !erasing.isDone { try piece(of: &erasing) }
        return try finish(erasing)
    }
}
