import TomboloLog

// The SQL statements. Their parameters are the keys, then the maximum number of rows, then the
// shard. The schema's name is passed with its quotes.

extension LogTable {
    /// Kinds whose shards are all in one table, with the shard as part of its key, because a
    /// running relay creates no tables here.
    var isSharded: Bool { Self.shardedKinds.contains(kind) }

    static let shardedKinds: Set<Kind> = [.waypoint, .retired, .retiredName]

    static func name(_ kind: Kind, in schema: String) -> String { "\(schema).\(kind.name)" }

    /// Tables whose rows are often replaced. If the row's page has free space, PostgreSQL stores
    /// the new row there without a new index entry.
    private static let replaced: Set<Kind> = [.head, .record, .tally]
    private static let appended: Set<Kind> = [.event, .fact]

    static func creation(_ kind: Kind, in schema: String) -> String {
        let name = name(kind, in: schema)
        let key =
            shardedKinds.contains(kind)
            ? "shard bigint NOT NULL, key bigint NOT NULL" : "key bigint NOT NULL"
        let primary = shardedKinds.contains(kind) ? "shard, key" : "key"
        // Start autovacuum after a fixed number of rows: a share of a large table would be late.
        var options = ["", "toast."].flatMap { prefix in
            [
                "\(prefix)autovacuum_vacuum_scale_factor = 0",
                "\(prefix)autovacuum_vacuum_threshold = 20000",
            ]
        }
        if replaced.contains(kind) { options.append("fillfactor = 50") }
        if appended.contains(kind) { options.append("autovacuum_freeze_min_age = 0") }
        return """
            CREATE TABLE \(name)(\(key), row bytea NOT NULL, PRIMARY KEY (\(primary)))
            WITH (\(options.joined(separator: ", ")));
            ALTER TABLE \(name) ALTER COLUMN row SET STORAGE EXTERNAL
            """
    }

    func sql(_ use: PostgresUse, in schema: String) -> String {
        let name = Self.name(kind, in: schema)
        func of(_ place: Int) -> String { isSharded ? " AND shard = $\(place)::int8" : "" }
        let range = "FROM \(name) WHERE key >= $1::int8 AND key <= $2::int8"
        let into = isSharded ? "\(name)(shard, key, row)" : "\(name)(key, row)"
        let shard = isSharded ? "$3::int8, " : ""
        let new = "INSERT INTO \(into) SELECT \(shard)* FROM unnest($1::int8[], $2::bytea[])"
        return switch use {
        case .many: "SELECT key, row FROM \(name) WHERE key = ANY($1::int8[])\(of(2))"
        case .rising: "SELECT key, row \(range)\(of(4)) ORDER BY key LIMIT $3::int8"
        case .falling: "SELECT key, row \(range)\(of(4)) ORDER BY key DESC LIMIT $3::int8"
        case .lengths:
            "SELECT key, octet_length(row)::int8 \(range)\(of(4)) ORDER BY key LIMIT $3::int8"
        case .least: "SELECT min(key) \(range)\(of(3))"
        case .greatest: "SELECT max(key) \(range)\(of(3))"
        case .insert: new
        case .replace:
            "\(new) ON CONFLICT (\(isSharded ? "shard, key" : "key")) "
                + "DO UPDATE SET row = excluded.row"
        case .delete: "DELETE FROM \(name) WHERE key = ANY($1::int8[])\(of(2))"
        case .deleteRange: "DELETE \(range)\(of(3))"
        }
    }

    /// Selects the shards of a kind in rising or falling order. Each is found with the primary key.
    static func shards(_ kind: Kind, in schema: String, _ order: LogOrder) -> String {
        let name = name(kind, in: schema)
        let (end, after) = order == .rising ? ("min", ">") : ("max", "<")
        return """
            WITH RECURSIVE s(shard) AS (
                SELECT \(end)(shard) FROM \(name)
                UNION ALL
                SELECT (SELECT \(end)(t.shard) FROM \(name) t WHERE t.shard \(after) s.shard)
                FROM s
                WHERE s.shard IS NOT NULL)
            """
    }

    static func everyShard(_ kind: Kind, in schema: String) -> String {
        """
        \(shards(kind, in: schema, .falling))
        SELECT t.shard, t.key, t.row FROM s JOIN \(name(kind, in: schema)) t
            ON t.shard = s.shard AND t.key = ANY($1::int8[]) WHERE s.shard IS NOT NULL
        """
    }
}

/// Use of a table's statement.
enum PostgresUse {
    case many, rising, falling, lengths, least, greatest, insert, replace, delete, deleteRange
}

extension LogTrail {
    /// Selects the rows of a trail from $1 on, at most $2 of them; $3 is the value of `leap`. The
    /// order is that of `LogReading.trail`.
    func sql(in schema: String) -> String {
        let name = LogTable.name(table.kind, in: schema)
        let leaps =
            switch leap {
            case .none: "false"
            case .above: "far > $3::int8"
            case .after:
                """
                coalesce((SELECT \(Self.number("f.row", at: recordedAt)) FROM \(name) f
                    WHERE f.key = far), 0) > $3::int8
                """
            }
        return """
            WITH RECURSIVE w(key, row, n) AS (
                SELECT key, row, 1 FROM \(name) WHERE key = $1::int8
                UNION ALL
                SELECT e.key, e.row, w.n + 1 FROM w
                    CROSS JOIN LATERAL (SELECT \(Self.number("w.row", at: previousAt)) AS previous,
                        \(Self.number("w.row", at: farAt)) AS far) p
                    CROSS JOIN LATERAL (SELECT CASE WHEN far > 0 AND far < w.key AND \(leaps)
                        THEN far ELSE previous END AS next) x
                    JOIN \(name) e ON e.key = x.next
                WHERE w.n < $2::int8 AND p.previous < w.key AND x.next > 0)
            SELECT key, row FROM w ORDER BY n
            """
    }

    /// SQL for an eight-byte little-endian number in a row; 0 if the row is too short.
    private static func number(_ row: String, at place: Int) -> String {
        let bytes = (0..<8).map { "(get_byte(\(row), \(place + $0))::int8 << \(8 * $0))" }
        return "CASE WHEN octet_length(\(row)) >= \(place + 8) "
            + "THEN \(bytes.joined(separator: " | ")) ELSE 0 END"
    }
}
