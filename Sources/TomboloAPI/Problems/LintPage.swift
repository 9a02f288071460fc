package import TomboloCore
import TomboloJSON

/// The page of a lint. A lint warns about a failure without an error: the page says what the phone
/// does, why there is no error, and what to do.
package struct LintPage: Hashable, Sendable {
    package let code: Lint.Code
    package let title: String
    /// What the phone or Apple does.
    package let effect: String
    package let fix: String
    package let command: String

    /// All pages, in the order of `Lint.Code`.
    package static let pages = PageFile.entries("lints").compactMap { name, entry in
        Lint.Code(rawValue: name).map { code in
            LintPage(
                code: code, title: entry.text("title"), effect: entry.text("effect"),
                fix: entry.text("fix"), command: entry["command"]?.string ?? "tombolo lint FILE")
        }
    }

    /// The page of a lint. Every lint has one.
    package static func page(_ code: Lint.Code) -> LintPage {
        guard let page = pages.first(where: { $0.code == code }) else {
            preconditionFailure("the lint \(code.rawValue) has no page in Protocol/pages.json")
        }
        return page
    }

    /// The path of a lint's page.
    package static func path(_ code: Lint.Code) -> String { "/problems/\(code.rawValue)" }

    /// The page as plain text.
    package var text: String {
        PageFile.text(
            title,
            "lint \(code.rawValue): a warning; APNs answers 200 all the same, where not said otherwise",
            ["What happens": effect, "Fix": fix, "Command": command])
    }
}

/// The page of a cause on the phone that facts cannot prove. `why` names it if the reports fit.
package struct SuspectPage: Hashable, Sendable {
    /// The code in the answer of `why`.
    package let code: String
    package let title: String
    /// What the phone does.
    package let effect: String
    package let fix: String

    /// The last part of the page's path.
    package var slug: String { code.split(separator: "_").joined(separator: "-") }

    /// All pages.
    package static let pages = PageFile.entries("suspects").map { name, entry in
        SuspectPage(
            code: name, title: entry.text("title"), effect: entry.text("effect"),
            fix: entry.text("fix"))
    }

    /// The page with this last part of the path; nil if there is none.
    package static func page(_ slug: String) -> SuspectPage? {
        pages.first { $0.slug == slug }
    }

    /// The page as plain text.
    package var text: String {
        PageFile.text(
            title, "suspect \(code): only the phone can know it",
            ["What happens": effect, "Fix": fix, "Command": "tombolo why ACTIVITY DEVICE"])
    }
}
