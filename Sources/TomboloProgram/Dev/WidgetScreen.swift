import TomboloCore
import TomboloJSON

/// Draws the widgets of the simulated phones side by side, below the islands.
///
/// Pure: its input is phones as `/v1/phones` shows them, its output lines.
struct WidgetScreen: Sendable {
    /// The width of an island, for widgets too.
    private static let width = IslandScreen.width
    private static let gap = "  "

    /// Maximum number of parts of a state, such as doors, that one widget draws.
    private static let partsMax = 8

    let columns: Int
    let usesColor: Bool
    /// How states of each registered type are drawn.
    var faces: [String: IslandFace] = [:]
    var now = Instant.distantPast

    /// Number of rows in a widget of this family. It shows as many members of the content.
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

    /// Number of list elements that are shown below the texts, for example of a history. The
    /// console shows the same number.
    private static func lines(of family: String) -> Int {
        switch family {
        case "accessoryInline", "accessoryCircular": 0
        case "systemLarge", "systemExtraLarge": 6
        case "systemMedium": 2
        default: 1
        }
    }

    /// The screen's lines; empty if no phone has a widget.
    func lines(_ phones: [JSONView]) -> [String] {
        let blocks = phones.flatMap { phone in
            phone.items("widgets").map { block($0, of: phone) }
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
            let face = widget["type"]?.string.flatMap { faces[$0] } ?? IslandFace()
            let items = widget["state"]?["items"]?.elements.prefix(Self.partsMax).map { $0 } ?? []
            rows =
                items.isEmpty
                ? widget["state"].map { self.rows($0, face, family, of: 1) } ?? []
                : items.flatMap { self.rows($0, face, family, of: items.count) }
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

    /// The rows of a widget. Families of the Home Screen have a picture above their lines. If the
    /// state has no picture, or one that is not a PNG, a placeholder is drawn.
    ///
    /// - Parameter parts: number of states that share the widget.
    private func rows(
        _ state: JSONView, _ face: IslandFace, _ family: String, of parts: Int
    ) -> [String] {
        // Even one line has space for two texts.
        let count = max(2, Self.rows(of: family))
        let texts = face.rows(of: state, atMost: count, at: now)
        let lines =
            face.preview == nil
            ? [] : face.lines(of: state, atMost: Self.lines(of: family) / parts)
        guard family.hasPrefix("system"), face.preview?.image != nil else {
            return (family == "accessoryInline" ? [texts.joined(separator: " · ")] : texts) + lines
        }
        let picture = (face.picture(of: state) ?? Self.standIn).scaled(width: 12, height: 8).braille
        let width = (picture.first?.count ?? 0) + 1
        return (0..<max(picture.count, texts.count)).map { row in
            let left = picture.indices.contains(row) ? picture[row] + " " : ""
            return left + String(repeating: " ", count: width - left.count)
                + (texts.indices.contains(row) ? texts[row] : "")
        } + lines
    }

    /// Placeholder for a missing picture: a frame with a diagonal line.
    private static let standIn = Bitmap(width: 12, height: 8) { x, y in
        x == 0 || y == 0 || x == 11 || y == 7 || x * 7 == y * 11
    }

    private func printable(_ text: String) -> String {
        IslandPlayer.printable(text, atMost: Self.width)
    }

    private func pad(_ text: String) -> String {
        let cut = text.prefix(Self.width)
        return cut + String(repeating: " ", count: Self.width - cut.count)
    }
}
