import TomboloJSON

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
        guard OutputFormat(context) == .table else {
            var writer = JSONWriter()
            writer.beginObject()
            for row in rows {
                writer.name(row.name)
                writer.raw(Array(row.text.utf8))
            }
            writer.endObject()
            return try context.terminal.write(writer.bytes + [10])
        }
        var table = TextTable(["FIGURE", "VALUE"])
        for row in rows { table.add([row.name, row.text]) }
        try context.terminal.write(table.text(for: context.terminal).utf8)
    }
}
