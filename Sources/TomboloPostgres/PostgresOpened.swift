package import TomboloLog

extension PostgresEventLog {
    /// What `create` did.
    package enum Creation: Hashable, Sendable {
        case made
        /// An older version made the log, and what it lacked was added.
        case completed
        case exists
    }

    /// A log that this relay owns.
    package struct Opened: Sendable {
        package let log: EngineEventLog
        package let figures: PostgresFigures
        /// Says whether pushes may be sent.
        package let trust: PostgresTrust
        /// What the clock of the previous owner said when this relay took the log; nil if unknown.
        package let lastReading: PostgresReading?
    }
}
