import TomboloCore
import TomboloJSON

extension JSONWriter {
    /// Writes `"lint":[{"code","pointer","message","type"}]`. `type` is the path of its page.
    mutating func lints(_ lints: [Lint]) {
        name("lint")
        beginArray()
        for lint in lints {
            beginObject()
            member("code", lint.code.rawValue)
            member("pointer", lint.pointer)
            member("message", lint.message)
            member("type", LintPage.path(lint.code))
            endObject()
        }
        endArray()
    }
}
