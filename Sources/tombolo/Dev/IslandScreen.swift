/// Draws Dynamic Islands side by side, with what the relay did for each.
///
/// Pure: views in, lines out. Where the terminal is narrower than the islands, they wrap.
struct IslandScreen: Sendable {
    /// One phone at this moment.
    struct Phone: Hashable, Sendable {
        var name: String
        var budgetClass: String
        /// Whether keys are for it.
        var isChosen = false
        /// Where it is: locked, in front, offline; empty where it is as most are.
        var place = ""
        /// The activity whose card it shows; nil while it shows none.
        var activity: String?
        var hasEnded = false
        /// The last alert of that card.
        var alert: String?
        /// What its island shows; nil without a card.
        var drawing: IslandDrawing?
        /// Versions that went by themselves, and those that went as a part of a newer one.
        var sent: Int64 = 0
        var merged: Int64 = 0
        /// Frames of clips.
        var framesAsked: Int64 = 0
        var framesSent: Int64 = 0
        /// Why the next change waits; nil while nothing does.
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
        // The class is known from the phone's first card on.
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

    /// These rows in the middle of the island, cut to its size.
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
