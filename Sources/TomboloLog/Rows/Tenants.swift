package import TomboloCore
import TomboloEventLog

/// The tenants and the numbers (1, 2, 3 …) by which rows refer to them.
package struct Tenants {
    private var names: [Int64: TenantID] = [:]
    private(set) var byName: [TenantID: Int64] = [:]
    /// Result of the last lookup, because most batches have only one tenant.
    private var last: (name: TenantID, number: Int64)?
    /// The highest assigned number.
    private(set) var highest: Int64 = 0
    /// Numbers of tenants whose rows are damaged.
    private(set) var nameless: Set<Int64> = []
    /// Highest number with a row. Tenants with higher numbers have no row yet.
    var stored: Int64 = 0

    package init() {}

    /// Name of the tenant with this number; nil if unknown or damaged.
    package func name(_ number: Int64) -> TenantID? { names[number] }

    /// All known numbers, including those without a name.
    package var all: [Int64] { (Array(names.keys) + nameless).sorted() }

    /// Number of a tenant; nil if it has none.
    func known(_ name: TenantID) -> Int64? { byName[name] }

    /// The number of `name`. Assigns a number if there is none; its row must be stored before
    /// another row uses the number.
    mutating func number(_ name: TenantID) -> Int64 {
        if let last, last.name == name { return last.number }
        let number = byName[name] ?? highest + 1
        if number > highest { add(number, name) }
        last = (name, number)
        return number
    }

    /// Adds a tenant from its row. `name` is nil if the row is damaged; its number stays assigned.
    package mutating func recover(_ number: Int64, _ name: TenantID?) {
        if let name {
            add(number, name)
            nameless.remove(number)
        } else {
            nameless.insert(number)
        }
        highest = max(highest, number)
        stored = highest
    }

    /// Returns the tenants that have no row yet. Afterwards they count as stored.
    mutating func takeNew() -> [(number: Int64, name: TenantID)] {
        guard stored < highest else { return [] }
        defer { stored = highest }
        return (stored + 1...highest).compactMap { number in names[number].map { (number, $0) } }
    }

    private mutating func add(_ number: Int64, _ name: TenantID) {
        names[number] = name
        byName[name] = number
        highest = max(highest, number)
    }
}

extension Tenants {
    /// The name in a tenant's row; nil if the row is damaged.
    private static func name(_ number: Int64, _ row: RawSpan) -> TenantID? {
        guard RowChecksum.isRight(.tenant, number, row) else { return nil }
        return Identifier(row.text(RowChecksum.bytes..<row.byteCount)).map(TenantID.init)
    }

    /// Reads all tenants. Calls `damage` for each bad row.
    static func read(
        _ engine: any LogReading, damage: (String) -> Void
    ) throws(EventLogError) -> Tenants {
        var tenants = Tenants()
        try engine.scan(.tenant) { number, row in
            guard (1...Int64(UInt32.max)).contains(number) else {
                damage("tenant \(number): no relay gave that number")
                return true
            }
            let name = name(number, row)
            if name == nil { damage("tenant \(number): its row is damaged") }
            tenants.recover(number, name)
            return true
        }
        return tenants
    }
}
