import TomboloJSON

/// Draws the widgets of the simulated phones side by side, below the islands.
///
/// Pure: the phones as `/v1/phones` shows them in, lines out.
struct WidgetScreen: Sendable {
    /// As wide as an island.
    private static let width = IslandScreen.width
    private static let gap = "  "

    let columns: Int
    let usesColor: Bool

    /// Rows that a family has room for, and so many members of the content are shown.
    static func rows(of family: String) -> Int {
        switch family {
        case "accessoryInline": 1
        case "accessoryCircular": 2
        case "systemLarge": 6
        case "systemExtraLarge": 8
        case "systemMedium": 4
        default: 3
        }
    }

    /// The screen's lines; none where no phone has a widget.
    func lines(_ phones: [JSONView]) -> [String] {
        let blocks = phones.flatMap { phone in
            (phone["widgets"]?.elements.map { $0 } ?? []).map { block($0, of: phone) }
        }
        let perRow = max(1, (columns + Self.gap.count) / (Self.width + Self.gap.count))
        var lines: [String] = []
        for start in stride(from: 0, to: blocks.count, by: perRow) {
            let row = blocks[start..<min(start + perRow, blocks.count)]
            let height = row.map(\.count).max() ?? 0
            for line in 0..<height {
                lines.append(
                    row.map { $0.indices.contains(line) ? $0[line] : pad("") }
                        .joined(separator: Self.gap))
            }
            lines.append("")
        }
        return lines
    }

    private func block(_ widget: JSONView, of phone: JSONView) -> [String] {
        let family = widget["family"]?.string ?? ""
        let kind = [widget["kind"], widget["config"]].compactMap { $0?.string }
        let count = Self.rows(of: family)
        var rows: [String]
        if widget["placeholder"]?.bool == true {
            rows = ["(placeholder)"]
        } else {
            rows = widget["state"].map { IslandFace.texts(ofFirst: $0, atMost: count) } ?? []
        }
        rows += Array(repeating: "", count: max(0, count - rows.count))
        let left = widget["fetches_left"]?.integer ?? 0
        return [
            pad(printable("\(phone["phone"]?.string ?? "") · \(kind.joined(separator: " "))")),
            pad(family),
        ]
            + rows.map { row in
                let line = pad(" " + row)
                return usesColor ? "\u{1B}[30;47m\(line)\u{1B}[0m" : line
            } + [pad("fetches left \(left)")]
    }

    private func printable(_ text: String) -> String {
        IslandPlayer.printable(text, atMost: Self.width)
    }

    private func pad(_ text: String) -> String {
        let cut = text.prefix(Self.width)
        return cut + String(repeating: " ", count: Self.width - cut.count)
    }
}
