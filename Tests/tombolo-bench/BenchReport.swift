import TomboloJSON
import TomboloProgram

/// Results of a benchmark, as names and numbers: one JSON object or a table.
struct BenchReport {
    private var rows: [(name: String, text: String)] = []

    mutating func add(_ name: String, _ value: Double, digits: Int) {
        var scale = 1.0
        for _ in 0..<digits { scale *= 10 }
        let rounded = (value.isFinite ? value * scale : 0).rounded() / scale
        rows.append((name, digits == 0 ? String(Int64(rounded)) : String(rounded)))
    }

    func print(_ context: CommandContext) throws {
        guard context.printsTable else {
            return try context.terminal.printObject { writer in
                for row in rows {
                    writer.member(row.name, JSON(unchecked: Array(row.text.utf8)))
                }
            }
        }
        try context.terminal.write(
            TextTable(["FIGURE", "VALUE"], rows.map { [$0.name, $0.text] }))
    }
}
