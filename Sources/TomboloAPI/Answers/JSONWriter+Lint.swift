import TomboloCore
import TomboloJSON

extension JSONWriter {
    /// `"lint":[{"code","pointer","message","type"}]`; `type` is a page that the relay serves.
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
