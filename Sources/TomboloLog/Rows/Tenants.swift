package import TomboloCore
import TomboloEventLog

/// Tenants by their small integers, 1, 2, 3 …
package struct Tenants {
    private var names: [Int64: TenantID] = [:]
    private(set) var byName: [TenantID: Int64] = [:]
    /// The newest looked up: most batches are of one tenant.
    private var last: (name: TenantID, number: Int64)?
    /// The highest that was given.
    private(set) var highest: Int64 = 0
    /// Their rows are damaged.
    private(set) var nameless: Set<Int64> = []
    /// Those with numbers above it have no row yet.
    var stored: Int64 = 0

    package init() {}

    /// nil for a number that has no name here.
    package func name(_ number: Int64) -> TenantID? { names[number] }

    /// All that are known, also where a row does not say the name.
    package var all: [Int64] { (Array(names.keys) + nameless).sorted() }

    /// nil for a tenant that was never seen.
    func known(_ name: TenantID) -> Int64? { byName[name] }

    /// The number of `name`, a new one where it has none, which is to be stored before a row
    /// uses it.
    mutating func number(_ name: TenantID) -> Int64 {
        if let last, last.name == name { return last.number }
        let number = byName[name] ?? highest + 1
        if number > highest { add(number, name) }
        last = (name, number)
        return number
    }

    /// Takes in a row; `name` is nil where it is damaged, whose number stays taken.
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

    /// What has no row yet; it counts as stored from now on.
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
    /// The row of a tenant is its name; nil where it is damaged.
    private static func name(_ number: Int64, _ row: RawSpan) -> TenantID? {
        guard RowChecksum.isRight(.tenant, number, row) else { return nil }
        return Identifier(row.text(RowChecksum.bytes..<row.byteCount)).map(TenantID.init)
    }

    /// Reads them all; `damage` hears of each row that is wrong.
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
