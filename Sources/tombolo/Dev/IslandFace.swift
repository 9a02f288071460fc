import TomboloCore
import TomboloCrypto
import TomboloJSON

/// What a simulated phone on the terminal draws for a content state.
enum IslandDrawing: Hashable, Sendable {
    case picture(Bitmap)
    /// Rows of text.
    case texts([String])
}

/// How the app draws states of its type: by the type's `preview` and `dates`. Without a preview it
/// shows the first two members as text.
struct IslandFace: Hashable, Sendable {
    var preview: TypePreview?
    var dates = DateEncoding.swiftReference

    init() {}

    init(_ type: ActivityType) {
        preview = type.preview
        dates = type.dates
    }

    /// The angle of the state's turn in degrees; nil if the type has no turn.
    func angle(of state: JSONView) -> Double? {
        preview?.radial.flatMap { state.at($0.angle)?.double }
    }

    /// - Parameter turn: present places of the turning items; nil: the places in the state itself.
    func drawing(of state: JSONView, turn: IslandTurn?, at now: Instant) -> IslandDrawing {
        guard let preview else { return .texts(Self.texts(ofFirst: state, atMost: 2)) }
        if let picture = picture(of: state) { return .picture(picture) }
        if let turn { return .picture(IslandPicture.radial(turn.places)) }
        if let corner = preview.windowCorner.flatMap({ state.at($0)?.double }) {
            return .picture(IslandPicture.window(radius: corner))
        }
        return .texts(texts(preview, state, at: now))
    }

    /// The picture in a state; nil if the type has none or it is not a PNG of two colours. Braille
    /// has only two, so a photograph would be a blot.
    func picture(of state: JSONView) -> Bitmap? {
        preview?.image.flatMap { state.at($0)?.string }.flatMap(Base64.decode)
            .flatMap { $0.count > Self.depthPlace && $0[Self.depthPlace] == 1 ? $0 : nil }
            .flatMap(Bitmap.init(png:))
    }

    /// Offset of a PNG's bit depth (RFC 2083, section 4.1.1).
    private static let depthPlace = 24

    /// A widget's lines: those of the preview, else the first members.
    func rows(of state: JSONView, atMost count: Int, at now: Instant) -> [String] {
        let rows = preview.map { texts($0, state, at: now) } ?? []
        return rows.isEmpty
            ? Self.texts(ofFirst: state, atMost: count) : Array(rows.prefix(count))
    }

    /// A line with the texts of each of the first elements in the state's lists.
    func lines(of state: JSONView, atMost count: Int) -> [String] {
        var elements: [JSONView] = []
        for (_, value) in state.members where elements.count < count {
            elements += value.elements.prefix(count - elements.count)
        }
        return elements.map { element in
            let values = element.kind == .object ? element.members.map(\.1) : [element]
            return IslandPlayer.printable(
                values.compactMap(Self.text).joined(separator: " · "),
                atMost: IslandScreen.width - 1)
        }
    }

    private func texts(_ preview: TypePreview, _ state: JSONView, at now: Instant) -> [String] {
        var rows = [preview.title, preview.subtitle].compactMap { pointer in
            pointer.flatMap { state.at($0) }.flatMap(Self.text)
        }
        // A terminal shows the names of symbols instead of drawings.
        if let symbol = preview.icon?.symbol(of: state) {
            rows.insert("[\(symbol.rawValue)]", at: 0)
        }
        // A picture that cannot be drawn is shown as a word.
        if preview.image.flatMap({ state.at($0)?.string }) != nil, picture(of: state) == nil {
            rows.insert("[picture]", at: 0)
        }
        if let part = preview.progress.flatMap({ state.at($0)?.double }), (0...1).contains(part) {
            let full = Int(part * Double(Self.barWidth))
            rows.append(
                "[" + String(repeating: "#", count: full)
                    + String(repeating: " ", count: Self.barWidth - full) + "]")
        }
        if let end = preview.timer.flatMap({ state.at($0) }).flatMap(dates.date) {
            let left = max(0, (end - now).nanoseconds / 1_000_000_000)
            let seconds = "0\(left % 60)".suffix(2)
            rows.append("\(left / 60):\(seconds)")
        }
        return rows
    }

    private static let barWidth = 16

    private static func text(_ value: JSONView) -> String? {
        switch value.kind {
        case .string: IslandPlayer.printable(value.string ?? "", atMost: IslandPlayer.textMax)
        case .number, .bool: String(decoding: value.raw, as: UTF8.self)
        case .null, .array, .object: nil
        }
    }

    /// The first members of a state whose type does not say how to draw it.
    static func texts(ofFirst state: JSONView, atMost count: Int) -> [String] {
        Array(state.members).filter { $0.0 != "clip" }.prefix(count).map { name, value in
            let text = value.string ?? String(decoding: value.raw, as: UTF8.self)
            return IslandPlayer.printable("\(name): \(text)", atMost: IslandPlayer.textMax)
        }
    }
}
