import TomboloJSON

/// Rows in aligned columns, for people.
package struct TextTable: Sendable {
    private let titles: [String]
    private let rows: [[String]]

    /// Width of the widest cell on a terminal. Longer texts end with an ellipsis, so that a row
    /// stays one line.
    static let cellMax = 60

    /// A table whose rows have a cell for each title. Traps if one has not.
    package init(_ titles: [String], _ rows: [[String]] = []) {
        precondition(rows.allSatisfy { $0.count == titles.count })
        (self.titles, self.rows) = (titles, rows)
    }

    /// A row for each object, with a cell for each column.
    init(_ columns: [Column], _ rows: [JSONView]) {
        self.init(columns.map(\.title), rows.map { row in columns.map { $0.text(of: row) } })
    }

    /// A row for each member of an object, besides one.
    init(of object: JSONView, without left: String? = nil) {
        let members = object.members.filter { $0.name != left }
        self.init(["FIELD", "VALUE"], members.map { [$0.name, Cell.text($0.value)] })
    }

    /// The table. If there are colours, titles are dimmed.
    func text(for terminal: Terminal) -> String {
        text(isForPeople: terminal.outputIsTerminal, usesColor: terminal.usesColor)
    }

    /// - Parameter isForPeople: true to cut long cells.
    func text(isForPeople: Bool, usesColor: Bool) -> String {
        let rows = rows.map { row in row.map { isForPeople ? Self.clipped($0) : Printable.line($0) }
        }
        let widths = titles.indices.map { column in
            ([titles] + rows).map { Cells.width($0[column]) }.max() ?? 0
        }
        func line(_ cells: [String]) -> String {
            var line = ""
            for (column, cell) in cells.enumerated() {
                line += cell
                guard column < cells.count - 1 else { break }
                line += String(repeating: " ", count: widths[column] - Cells.width(cell) + 2)
            }
            return line
        }
        let head = usesColor ? "\u{1B}[2m\(line(titles))\u{1B}[0m" : line(titles)
        return ([head] + rows.map(line)).map { "\($0)\n" }.joined()
    }

    /// The cell in one line, cut, and without control characters, as strangers may write it.
    private static func clipped(_ text: String) -> String {
        let line = Printable.line(String(text.prefix(cellMax * 4)))
        return Cells.width(line) > cellMax ? Cells.prefix(line, cellMax - 1) + "…" : line
    }
}
