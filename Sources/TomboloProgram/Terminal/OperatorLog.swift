import TomboloCore
import TomboloJSON
import TomboloLoop
import TomboloRelay

enum OperatorLogFormat: String, Hashable, Sendable, CaseIterable {
    /// For people, and for `grep`.
    case text
    /// One JSON object per line, for log collectors.
    case json
}

/// The relay's log on stderr, with one line for each note, and its time. All messages to the
/// operator are written here. It never waits for a reader. Used on the loop only.
final class OperatorLog: @unchecked Sendable {
    // Sendable: used on the loop's thread only.

    private let output: LineOutput
    private let format: OperatorLogFormat
    private let least: OperatorNote.Level

    /// - Parameter least: notes of less important levels are not written.
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

    /// Tries to write the lines that still wait. Nothing is written afterwards.
    func end() { output.end() }

    private static func rank(_ level: OperatorNote.Level) -> Int {
        OperatorNote.Level.allCases.firstIndex(of: level) ?? 0
    }

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
            let json = JSON.object { writer in
                writer.member("time", time.rfc3339)
                writer.member("level", note.level.rawValue)
                writer.member("event", note.event.rawValue)
                writer.member("message", bounded(note.text))
                for field in note.fields { writer.member(field.name, bounded(field.value)) }
                if let remedy = note.remedy { writer.member("try", bounded(remedy)) }
            }
            return Array(escaped(json.description).utf8)
        }
    }

    /// Maximum length of a text in code points. A longer text comes from a bug, but its line must
    /// stay readable.
    private static let textMax = 2_000

    private static func padded(_ level: String) -> String {
        level + String(repeating: " ", count: max(0, "warning".count - level.count))
    }

    /// Returns one line without control characters, as parts may come from strangers.
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

    /// True if it controls a terminal, breaks the line, or changes the writing direction.
    private static func isLive(_ value: UInt32) -> Bool {
        switch value {
        case ..<0x20, 0x7F..<0xA0, 0x61C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    private static func bounded(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.prefix(textMax)))
    }

    /// Escapes control characters in JSON. They occur only inside its strings.
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

    /// The value in quotes, or without quotes if it is a single plain word.
    private static func quoted(_ whole: String) -> String {
        let value = bounded(whole)
        let isPlain =
            !value.isEmpty
            && value.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x3D }
        return isPlain ? value : shown(JSON.string(value).description)
    }
}
