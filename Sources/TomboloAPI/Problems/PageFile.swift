import CProtocolAssets
import TomboloJSON

/// `Protocol/pages.json`: the texts of the pages about problems, lints and suspects.
enum PageFile {
    private static let root: JSONView = {
        let asset = tombolo_protocol_pages()
        let bytes = Array(UnsafeBufferPointer(start: asset.bytes, count: asset.count))
        do { return try JSONDocument(bytes).root } catch {
            preconditionFailure("Protocol/pages.json is not JSON: \(error)")
        }
    }()

    /// The entries of a section, in their order. Tests compare their names with the codes.
    static func entries(_ section: String) -> [(name: String, entry: JSONView)] {
        root[section]?.members.map { ($0, $1) } ?? []
    }

    /// The plain text of a page.
    static func text(
        _ title: String, _ subtitle: String, _ parts: KeyValuePairs<String, String>
    ) -> String {
        let paragraphs = parts.map { "\($0.key)\n  \($0.value)\n" }
        return "\(title)\n\(subtitle)\n\n" + paragraphs.joined(separator: "\n")
    }
}

extension JSONView {
    /// A member's text; empty if it has none.
    func text(_ name: String) -> String { self[name]?.string ?? "" }
}

/// The parts of a problem that are the same at each occurrence, and the content of its page.
package struct ProblemPage: Hashable, Sendable {
    package let code: ProblemCode
    /// The HTTP status (RFC 9110, section 15).
    package let status: Int
    /// The title, the same at each occurrence (RFC 9457, section 3.1.4).
    package let title: String
    package let cause: String
    package let fix: String
    /// One command that helps, ready to paste.
    package let command: String

    /// All pages, in the order of `ProblemCode`.
    package static let pages = PageFile.entries("problems").compactMap { name, entry in
        ProblemCode(rawValue: name).map { code in
            ProblemPage(
                code: code, status: entry["status"]?.integer.map { Int($0) } ?? 500,
                title: entry.text("title"), cause: entry.text("cause"), fix: entry.text("fix"),
                command: entry.text("command"))
        }
    }

    private static let byCode = Dictionary(uniqueKeysWithValues: pages.map { ($0.code, $0) })

    /// The page of a code. Every code has one.
    package static func page(_ code: ProblemCode) -> ProblemPage {
        guard let page = byCode[code] else {
            preconditionFailure("the problem \(code.rawValue) has no page in Protocol/pages.json")
        }
        return page
    }

    /// The problem's `type`: the path of this page.
    package var path: String { "/problems/\(code.rawValue)" }

    /// The page as plain text.
    package var text: String {
        PageFile.text(
            title, "code \(code.rawValue), HTTP status \(status)",
            ["Cause": cause, "Fix": fix, "Command": command])
    }
}
