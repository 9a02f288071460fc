import TomboloLog

// Each kind of row has its own table. Retired activities have a table for each day.

extension LogTable {
    var isByDay: Bool { kind == .retired || kind == .retiredName }

    static func prefix(_ kind: Kind) -> String { "\(kind.name)_" }

    var name: String { isByDay ? "\(Self.prefix(kind))\(shard)" : kind.name }

    var creation: String {
        guard kind == .waypoint else {
            return "CREATE TABLE IF NOT EXISTS \(name)(key INTEGER PRIMARY KEY, row BLOB NOT NULL);"
        }
        return """
            CREATE TABLE waypoint(
                shard INTEGER NOT NULL, key INTEGER NOT NULL, row BLOB NOT NULL,
                PRIMARY KEY(shard, key)) WITHOUT ROWID;
            """
    }

    /// Creates all tables of a new database.
    static var creations: String {
        Kind.allCases.map { LogTable($0) }.filter { !$0.isByDay }.map(\.creation).joined()
    }
}

/// What a table's statement does. Its parameters: keys ?1, or ?1 to ?2; row ?2; shard ?3.
enum TableUse: Int, CaseIterable {
    case one, rising, falling, lengths, least, greatest, insert, replace, change, delete

    static let count = allCases.count

    func sql(_ table: LogTable) -> String {
        let name = table.name
        let shard = table.kind == .waypoint ? "shard = ?3 AND " : ""
        let range = "FROM \(name) WHERE \(shard)key >= ?1 AND key <= ?2"
        let row = shard.isEmpty ? "(key, row) VALUES(?1,?2)" : "(key, row, shard) VALUES(?1,?2,?3)"
        return switch self {
        case .one: "SELECT key, row FROM \(name) WHERE \(shard)key = ?1"
        case .rising: "SELECT key, row \(range) ORDER BY key"
        case .falling: "SELECT key, row \(range) ORDER BY key DESC"
        case .lengths: "SELECT key, length(row) \(range) ORDER BY key"
        case .least: "SELECT min(key) \(range)"
        case .greatest: "SELECT max(key) \(range)"
        case .insert: "INSERT INTO \(name)\(row)"
        case .replace: "INSERT OR REPLACE INTO \(name)\(row)"
        case .change: "UPDATE \(name) SET row = ?2 WHERE \(shard)key = ?1"
        case .delete: "DELETE \(range)"
        }
    }
}
