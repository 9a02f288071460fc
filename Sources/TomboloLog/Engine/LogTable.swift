/// One ordered table of the log: rows of bytes with integer keys. An engine never interprets a
/// row's bytes; the types in `Rows` define them.
package struct LogTable: Hashable, Sendable {
    /// Kind of the rows.
    package enum Kind: Int, CaseIterable, Sendable {
        /// Names of the tenants. The key is the small integer that other rows use for a tenant.
        case tenant
        /// Events by sequence: `EventRow`.
        case event
        /// Summaries of neighbouring events, by a chapter's first sequence: `LogChapter`.
        case block
        /// Idempotency keys, by a chapter's first sequence: `KeyChapter`.
        case keys
        /// Snapshots: heads kept at an event, by its sequence: `SnapshotRow`.
        case snapshot
        /// Facts that the relay observed itself, by sequence; deleted by age: `FactRow`.
        case fact
        /// Summaries of neighbouring facts, by a chapter's first sequence: `FactChapter`.
        case factBlock
        /// Index of a chapter's facts by activity and device: `FactBucket`.
        case factBucket
        /// Head of each live activity, by its number: `HeadRow`.
        case head
        /// Current values, by space << 48 | number: `RecordRow`.
        case record
        /// Values about the log as a whole: `LogMeta`.
        case meta
        /// How far the history was deleted: `LogCut`.
        case cut
        /// Numbers of events and facts of each tenant: `TallyRow`.
        case tally
        /// For some of a tenant's events or facts, their sequence by their place among the tenant's
        /// own. A shard is a tenant and a kind: `Waypoint`.
        case waypoint
        /// Heads of activities that ended on a day, by number. The shard is the day since 1970.
        case retired
        /// For these activities, their numbers by the hash of tenant and name: `RetiredNameRow`.
        case retiredName
    }

    /// Version of the row formats. A log with another number is from another program version.
    package static let form: Int64 = 6

    /// Largest sequence, version and count. A row with a larger one is damaged.
    package static let numberMax: Int64 = 1 << 53

    package let kind: Kind
    /// Shard of the kind; 0 for kinds without shards.
    package let shard: Int64

    /// The table of a kind. A kind with shards needs `shard`.
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
    /// Name of the table in engines.
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
