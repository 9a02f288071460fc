/// Draws Dynamic Islands side by side, with the relay's counts for each phone.
///
/// Pure: its input is views, its output lines. On a narrow terminal the islands take several rows.
struct IslandScreen: Sendable {
    /// What is drawn for one phone.
    struct Phone: Hashable, Sendable {
        var name: String
        var budgetClass: String
        /// True if keys act on this phone.
        var isChosen = false
        /// The phone's situation in words, such as locked or offline; may be empty.
        var place = ""
        /// The activity of the phone's card; nil if there is no card.
        var activity: String?
        var hasEnded = false
        /// The last alert of that card.
        var alert: String?
        /// The island's content; nil if there is no card.
        var drawing: IslandDrawing?
        /// Number of versions that were sent, and of versions that were merged into a newer one.
        var sent: Int64 = 0
        var merged: Int64 = 0
        /// Number of clip frames that were due, and number of those that were sent.
        var framesAsked: Int64 = 0
        var framesSent: Int64 = 0
        /// Why the next change waits; nil if none waits.
        var waiting: String?
        /// Number of changes that the phone has shown.
        var shown: Int64 = 0
    }

    /// Size of an island in characters. In braille it shows a picture of 48 by 32 pixels.
    static let width = 24
    static let height = 8
    private static let gap = "  "

    let columns: Int
    let usesColor: Bool

    /// The screen's lines. No line is wider than `columns` if that is at least 24.
    func lines(_ phones: [Phone], title: String) -> [String] {
        let perRow = max(1, (columns + Self.gap.count) / (Self.width + Self.gap.count))
        var lines = [Cells.prefix(title, columns), ""]
        for start in stride(from: 0, to: phones.count, by: perRow) {
            let blocks = phones[start..<min(start + perRow, phones.count)].map(block)
            for row in blocks[0].indices {
                lines.append(blocks.map { $0[row] }.joined(separator: Self.gap))
            }
            lines.append("")
        }
        return lines
    }

    private func block(_ phone: Phone) -> [String] {
        let rows: [String] =
            switch phone.drawing {
            case .picture(let picture)?: picture.braille
            case .texts(let texts)?: texts
            case nil: []
            }
        let island = inMiddle(rows)
        // The budget class is unknown before the phone's first card.
        let name = phone.isChosen ? "> " + phone.name : phone.name
        let title = [name, phone.budgetClass].filter { !$0.isEmpty }
        var lines = [pad(title.joined(separator: " · "))]
        lines += island.map { usesColor ? "\u{1B}[97;40m\($0)\u{1B}[0m" : $0 }
        lines.append(pad(phone.activity.map { $0 + (phone.hasEnded ? " · ended" : "") } ?? ""))
        lines.append(pad(phone.alert.map { "alert: " + $0 } ?? ""))
        lines.append(pad("sent \(phone.sent)  merged \(phone.merged)"))
        let frames = "frames \(phone.framesSent) of \(phone.framesAsked)"
        lines.append(pad(phone.framesAsked == 0 ? "" : frames))
        let place = phone.place.isEmpty ? "" : "  \(phone.place)"
        lines.append(pad("shown \(phone.shown)\(place)"))
        lines.append(pad(phone.waiting ?? ""))
        return lines
    }

    /// The rows centred in the island, cut to its size.
    private func inMiddle(_ rows: [String]) -> [String] {
        let top = max(0, (Self.height - rows.count) / 2)
        return (0..<Self.height).map { row in
            guard rows.indices.contains(row - top) else {
                return String(repeating: " ", count: Self.width)
            }
            let line = Cells.prefix(rows[row - top], Self.width)
            let left = (Self.width - Cells.width(line)) / 2
            return pad(String(repeating: " ", count: left) + line)
        }
    }

    private func pad(_ text: String) -> String {
        let cut = Cells.prefix(text, Self.width)
        return cut + String(repeating: " ", count: Self.width - Cells.width(cut))
    }
}
