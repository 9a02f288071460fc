import TomboloCore
import TomboloJSON
import TomboloLoop
import TomboloRelay

/// How the lines of the operator's log look.
enum OperatorLogFormat: String, Hashable, Sendable, CaseIterable {
    /// For people, and for `grep`.
    case text
    /// One object a line, for collectors.
    case json
}

/// What a relay says on stderr: one line for each note, with its time. Everything that a running
/// relay tells its operator goes through here. It never waits for a reader. On the loop only.
final class OperatorLog: @unchecked Sendable {
    // Sendable: used on the loop's thread only.

    private let output: LineOutput
    private let format: OperatorLogFormat
    private let least: OperatorNote.Level

    /// - Parameter least: what is less important is left out.
    init(_ format: OperatorLogFormat, least: OperatorNote.Level = .info, loop: EpollLoop) {
        self.format = format
        self.least = least
        output = LineOutput(loop: loop, descriptor: 2) { count in
            let note = OperatorNote(
                .warning, .notesLeftOut,
                "\(count) lines are left out: nobody read them in time, or the disk was full")
            return Self.line(note, at: SystemClock().now(), format)
        }
    }

    func write(_ note: OperatorNote) {
        guard Self.rank(note.level) >= Self.rank(least) else { return }
        output.write(line: Self.line(note, at: SystemClock().now(), format))
    }

    /// What waits is tried once more.
    func end() { output.end() }

    private static func rank(_ level: OperatorNote.Level) -> Int {
        OperatorNote.Level.allCases.firstIndex(of: level) ?? 0
    }

    /// A note as a line, without its line break.
    static func line(
        _ note: OperatorNote, at time: Instant, _ format: OperatorLogFormat
    ) -> [UInt8] {
        switch format {
        case .text:
            var line = "\(time.rfc3339) \(padded(note.level.rawValue)) \(note.event.rawValue): "
            line += shown(note.text)
            for field in note.fields { line += " \(field.name)=\(quoted(field.value))" }
            if let remedy = note.remedy { line += "; try: \(shown(remedy))" }
            return Array(line.utf8)
        case .json:
            var writer = JSONWriter()
            writer.beginObject()
            writer.member("time", time.rfc3339)
            writer.member("level", note.level.rawValue)
            writer.member("event", note.event.rawValue)
            writer.member("message", bounded(note.text))
            for field in note.fields { writer.member(field.name, bounded(field.value)) }
            if let remedy = note.remedy { writer.member("try", bounded(remedy)) }
            writer.endObject()
            return Array(escaped(writer.json.description).utf8)
        }
    }

    /// In code points. A sentence of more is a fault somewhere; the line is still one that people
    /// read.
    private static let textMax = 2_000

    private static func padded(_ level: String) -> String {
        level + String(repeating: " ", count: max(0, "warning".count - level.count))
    }

    /// One line, and nothing that a terminal obeys: part of it may come from strangers.
    static func shown(_ text: String) -> String {
        var shown = ""
        for scalar in text.unicodeScalars.prefix(textMax) {
            switch scalar.value {
            case 0x0A, 0x0D, 0x2028, 0x2029: shown += " "
            case let value where isLive(value): shown += "\\u{\(String(value, radix: 16))}"
            default: shown.unicodeScalars.append(scalar)
            }
        }
        return shown
    }

    /// Whether a terminal obeys it, breaks the line there, or writes in another direction.
    private static func isLive(_ value: UInt32) -> Bool {
        switch value {
        case ..<0x20, 0x7F..<0xA0, 0x61C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    private static func bounded(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.prefix(textMax)))
    }

    /// JSON whose texts have nothing live: outside of them it has nothing of the kind.
    private static func escaped(_ json: String) -> String {
        var escaped = ""
        for scalar in json.unicodeScalars {
            guard isLive(scalar.value) else {
                escaped.unicodeScalars.append(scalar)
                continue
            }
            let digits = String(scalar.value, radix: 16)
            escaped += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
        return escaped
    }

    /// Bare where it is one plain word.
    private static func quoted(_ whole: String) -> String {
        let value = bounded(whole)
        let isPlain =
            !value.isEmpty
            && value.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x3D }
        guard !isPlain else { return value }
        var writer = JSONWriter()
        writer.string(value)
        return shown(writer.json.description)
    }
}
