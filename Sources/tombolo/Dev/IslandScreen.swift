/// Draws Dynamic Islands side by side, with what the relay did for each.
///
/// Pure: views in, lines out. Where the terminal is narrower than the islands, they wrap.
struct IslandScreen: Sendable {
    /// One phone as it stands now.
    struct Phone: Hashable, Sendable {
        var name: String
        var budgetClass: String
        /// What its island shows; nil while it shows nothing.
        var picture: Bitmap?
        var asked: Int64 = 0
        var sent: Int64 = 0
        var merged: Int64 = 0
        var skipped: Int64 = 0
        /// Why the next frame waits; nil while nothing does.
        var waiting: String?
        /// How many changes its island has shown.
        var shown: Int64 = 0
    }

    /// An island's inside, in characters: a picture of 48 by 32 pixels in braille.
    static let width = 24
    static let height = 8
    private static let gap = "  "

    let columns: Int
    let usesColor: Bool

    /// The screen's lines, none wider than `columns` where that is 24 or more.
    func lines(_ phones: [Phone], title: String) -> [String] {
        let perRow = max(1, (columns + Self.gap.count) / (Self.width + Self.gap.count))
        var lines = [String(title.prefix(columns)), ""]
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
        let picture = picture(phone.picture)
        var lines = [pad("\(phone.name) · \(phone.budgetClass)")]
        lines += picture.map { usesColor ? "\u{1B}[97;40m\($0)\u{1B}[0m" : $0 }
        lines.append(pad("asked \(phone.asked)  sent \(phone.sent)"))
        lines.append(pad("merged \(phone.merged)  skipped \(phone.skipped)"))
        lines.append(pad("shown \(phone.shown)"))
        lines.append(pad(phone.waiting ?? ""))
        return lines
    }

    /// The picture in the middle of the island, cut to its size.
    private func picture(_ picture: Bitmap?) -> [String] {
        let rows = picture?.braille ?? []
        let top = max(0, (Self.height - rows.count) / 2)
        return (0..<Self.height).map { row in
            guard rows.indices.contains(row - top) else {
                return String(repeating: " ", count: Self.width)
            }
            let line = rows[row - top].prefix(Self.width)
            let left = (Self.width - line.count) / 2
            return pad(String(repeating: " ", count: left) + line)
        }
    }

    private func pad(_ text: String) -> String {
        let cut = text.prefix(Self.width)
        return cut + String(repeating: " ", count: Self.width - cut.count)
    }
}
