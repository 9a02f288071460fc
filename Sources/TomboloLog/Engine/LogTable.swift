/// One ordered table of the log: rows of bytes by an integer key. An engine looks into no row; the
/// types in `Rows` say what is in one.
package struct LogTable: Hashable, Sendable {
    /// What rows are of.
    package enum Kind: Int, CaseIterable, Sendable {
        /// Tenants' names, by the small integers that rows use.
        case tenant
        /// The log, by sequence: `EventRow`.
        case event
        /// What neighbours of the log have in common, by a chapter's first sequence: `LogChapter`.
        case block
        /// Idempotency keys, by a chapter's first sequence: `KeyChapter`.
        case keys
        /// Heads of the past, by the sequence of the event where they were kept: `SnapshotRow`.
        case snapshot
        /// What the relay learned by itself, by sequence; cut by age: `FactRow`.
        case fact
        /// What neighbours of the facts have in common, by a chapter's first sequence:
        /// `FactChapter`.
        case factBlock
        /// Which facts of a chapter an activity or a device has: `FactBucket`.
        case factBucket
        /// The newest state of each activity, by its number: `HeadRow`.
        case head
        /// Current values, by space << 48 | number: `RecordRow`.
        case record
        /// What belongs to the log as a whole: `LogMeta`.
        case meta
        /// Up to where history was cut: `LogCut`.
        case cut
        /// How many events and facts each tenant has: `TallyRow`.
        case tally
        /// Where a tenant's events or facts are in the log, by their places among its own; a shard
        /// is a tenant and what is counted: `Waypoint`.
        case waypoint
        /// Activities that ended on a day since 1970, which is the shard: their heads, by number.
        case retired
        /// The same: their numbers, by the hash of tenant and name: `RetiredNameRow`.
        case retiredName
    }

    /// The form of all rows: a log of another number is another program's version.
    package static let form: Int64 = 6

    /// Sequences, versions and counts end here: a row beyond is damaged, and arithmetic has room.
    package static let numberMax: Int64 = 1 << 53

    package let kind: Kind
    /// Which of several tables of the kind; 0 where there is one.
    package let shard: Int64

    /// The table of a kind; those of a kind with shards need one.
    package init(_ kind: Kind, _ shard: Int64 = 0) { (self.kind, self.shard) = (kind, shard) }

    static let tenant = LogTable(.tenant)
    static let event = LogTable(.event)
    static let block = LogTable(.block)
    static let keys = LogTable(.keys)
    static let snapshot = LogTable(.snapshot)
    static let fact = LogTable(.fact)
    static let factBlock = LogTable(.factBlock)
    static let factBucket = LogTable(.factBucket)
    static let head = LogTable(.head)
    static let record = LogTable(.record)
    static let meta = LogTable(.meta)
    static let cut = LogTable(.cut)
    static let tally = LogTable(.tally)
    static func waypoint(_ shard: Int64) -> LogTable { LogTable(.waypoint, shard) }
    static func retired(_ day: Int64) -> LogTable { LogTable(.retired, day) }
    static func retiredName(_ day: Int64) -> LogTable { LogTable(.retiredName, day) }
}

extension LogTable.Kind {
    /// What engines call its table.
    package var name: String {
        switch self {
        case .tenant: "tenant"
        case .event: "event"
        case .block: "block"
        case .keys: "keys"
        case .snapshot: "snapshot"
        case .fact: "fact"
        case .factBlock: "fact_block"
        case .factBucket: "fact_index"
        case .head: "head"
        case .record: "record"
        case .meta: "meta"
        case .cut: "cut"
        case .tally: "tally"
        case .waypoint: "waypoint"
        case .retired: "retired"
        case .retiredName: "retired_name"
        }
    }
}
