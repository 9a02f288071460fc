package import TomboloCore

/// The page of a lint. A lint warns about a failure without an error: the page says what the phone
/// does, why there is no error, and what to do.
package struct LintPage: Hashable, Sendable {
    package let code: Lint.Code
    package let title: String
    /// What the phone or Apple does.
    package let effect: String
    package let fix: String
    package let command: String

    init(
        _ code: Lint.Code, _ title: String, effect: String, fix: String,
        command: String = "tombolo lint FILE"
    ) {
        self.code = code
        self.title = title
        self.effect = effect
        self.fix = fix
        self.command = command
    }

    /// The path of a lint's page.
    package static func path(_ code: Lint.Code) -> String { "/problems/\(code.rawValue)" }

    /// The page of a lint. Every lint has one.
    package static func page(_ code: Lint.Code) -> LintPage {
        guard let page = byCode[code] else {
            preconditionFailure("the lint \(code.rawValue) has no page")
        }
        return page
    }

    /// All pages, in the order of `Lint.Code`.
    package static var pages: [LintPage] { Lint.Code.allCases.map(page) }

    private static let byCode = Dictionary(
        uniqueKeysWithValues: (ofStates + ofStarts + ofPushes + ofLives).map { ($0.code, $0) })

    /// The page as plain text.
    package var text: String {
        """
        \(title)
        lint \(code.rawValue): a warning; APNs answers 200 all the same, where not said otherwise

        What happens
          \(effect)

        Fix
          \(fix)

        Command
          \(command)

        """
    }
}
