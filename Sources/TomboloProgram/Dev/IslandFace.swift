import TomboloCore
import TomboloCrypto
import TomboloJSON

/// The drawing of a content state on a simulated phone in the terminal.
enum IslandDrawing: Hashable, Sendable {
    case picture(Bitmap)
    /// Rows of text.
    case texts([String])
}

/// How the app draws states of a type, according to the type's `preview` and `dates`. Without a
/// preview it shows the first two members as text.
struct IslandFace: Hashable, Sendable {
    var preview: TypePreview?
    var dates = DateEncoding.swiftReference

    init() {}

    init(_ type: ActivityType) {
        preview = type.preview
        dates = type.dates
    }

    /// The state's angle in degrees; nil if the type's preview is not radial.
    func angle(of state: JSONView) -> Double? {
        preview?.radial.flatMap { state.at($0.angle)?.double }
    }

    /// - Parameter turn: where the items are in the middle of an animation; nil means where the
    ///   state puts them.
    func drawing(of state: JSONView, turn: IslandTurn?, at now: Instant) -> IslandDrawing {
        guard let preview else { return .texts(Self.texts(ofFirst: state, atMost: 2)) }
        if let picture = picture(of: state) { return .picture(picture) }
        if let turn { return .picture(IslandPicture.radial(turn.places)) }
        if let corner = preview.windowCorner.flatMap({ state.at($0)?.double }) {
            return .picture(IslandPicture.window(radius: corner))
        }
        return .texts(texts(preview, state, at: now))
    }

    /// The picture in a state; nil if there is none or if it is not a PNG with two colours. Braille
    /// has only two colours, so a photograph would not be recognisable.
    func picture(of state: JSONView) -> Bitmap? {
        preview?.image.flatMap { state.at($0)?.string }.flatMap(Base64.decode)
            .flatMap { $0.count > Self.depthPlace && $0[Self.depthPlace] == 1 ? $0 : nil }
            .flatMap(Bitmap.init(png:))
    }

    /// Offset of a PNG's bit depth (RFC 2083, section 4.1.1).
    private static let depthPlace = 24

    /// A widget's lines of text: those of the preview, or else the first members.
    func rows(of state: JSONView, atMost count: Int, at now: Instant) -> [String] {
        let rows = preview.map { texts($0, state, at: now) } ?? []
        return rows.isEmpty
            ? Self.texts(ofFirst: state, atMost: count) : Array(rows.prefix(count))
    }

    /// One line for each of the first elements in the state's lists.
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
        if let unit = preview.unit, preview.subtitle.flatMap({ state.at($0)?.kind }) == .number {
            let words = IslandPlayer.printable(unit, atMost: TypePreview.unitBytesMax)
            let number = rows[rows.count - 1]
            rows[rows.count - 1] =
                words.contains("{}") ? words.replacing("{}", with: number) : "\(number) \(words)"
        }
        // The terminal shows a symbol's name, because it cannot draw it.
        if let symbol = preview.icon?.symbol(of: state) {
            rows.insert("[\(symbol.rawValue)]", at: 0)
        }
        // A picture that cannot be drawn is replaced by a word.
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

    /// The first members of a state, for a type that does not say how it is drawn.
    static func texts(ofFirst state: JSONView, atMost count: Int) -> [String] {
        Array(state.members).filter { $0.0 != "clip" }.prefix(count).map { name, value in
            let text = value.string ?? String(decoding: value.raw, as: UTF8.self)
            return IslandPlayer.printable("\(name): \(text)", atMost: IslandPlayer.textMax)
        }
    }
}
