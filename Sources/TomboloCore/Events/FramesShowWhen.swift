/// When frames of clips are sent to a device (`show_when.frames`).
package enum FramesShowWhen: UInt8, Hashable, Sendable {
    /// Only while the app is not in front. This is the default.
    case background
    case always

    static let choices: [(String, FramesShowWhen)] = [
        ("background", .background), ("always", .always),
    ]

    /// Reads `show_when`. Returns nil if it does not mention frames. (States are always sent.)
    static func reading(_ reader: inout FieldReader) -> FramesShowWhen? {
        guard let view = reader.object("show_when") else { return nil }
        var inner = reader.inside(view, "show_when")
        let frames = inner.choice("frames", choices)
        _ = inner.choice("state", [("always", true)])
        do { try inner.finish() } catch { reader.adopt(error) }
        return frames
    }
}
