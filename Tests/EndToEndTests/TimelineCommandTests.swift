import Testing
import TomboloJSON

@testable import TomboloProgram

/// `timeline put`, `ls`, `show` and `rm`, as somebody at a shell has them.
@Suite(.serialized) struct TimelineCommandTests {
    private static let profile =
        #"{"content":{"rank":3},"schedule":{"weekly":{"on":"monday","at":"06:00"},"count":2}}"#

    @Test func `a timeline is tried, put, shown, listed and removed`() throws {
        let dev = try RunningRelay()
        let put = ["timeline", "put", "profile", "--user", "u42"]
        let tried = try dev.tombolo(put + ["--dry-run", "-o", "table"], input: Self.profile)
        #expect(tried.output == "profile: would be created; 0 to reload\n", "\(tried.errors)")
        #expect(try dev.tombolo("timeline", "show", "profile", "--user", "u42").status == 3)
        let done = try dev.tombolo(put + ["-o", "table"], input: Self.profile)
        #expect(done.output == "profile: created; 0 to reload\n", "\(done.errors)")
        let shown = try dev.tombolo(
            "timeline", "show", "profile", "--user", "u42", "--family", "systemSmall", "-o", "json")
        let view = try json(shown.output)
        #expect(view["entries"]?.count == 3)
        #expect(view["policy"]?.string == "atEnd")
        let table = try dev.tombolo("timeline", "show", "profile", "--user", "u42", "-o", "table")
        #expect(table.output.contains(#"{"rank":3}"#))
        #expect(table.output.contains("policy: atEnd"))
        let list = try dev.tombolo("timeline", "ls", "profile", "-o", "table")
        #expect(list.output.contains("u42") && list.output.contains("profile"))
        let none = try dev.tombolo("timeline", "ls", "other", "-o", "jsonl")
        #expect(none.output.isEmpty)
        let remove = ["timeline", "rm", "profile", "--user", "u42"]
        #expect(try dev.tombolo(remove + ["--dry-run"]).output.contains(#""dry_run":true"#))
        #expect(try dev.tombolo(remove).status == 0)
        let again = try dev.tombolo(remove)
        #expect(again.status == 3)
        #expect(again.errors.contains("no timeline"))
    }

    @Test func `a subject is named once`() throws {
        let dev = try RunningRelay()
        let none = try dev.tombolo("timeline", "show", "profile")
        #expect(none.status == 2)
        #expect(none.errors.contains("needs --user, --device or --config"))
        let two = try dev.tombolo(
            "timeline", "show", "profile", "--user", "u42", "--config", "door-7")
        #expect(two.status == 2)
        let odd = try dev.tombolo("timeline", "put", "profile", input: Self.profile)
        #expect(odd.status == 1)
        #expect(odd.errors.contains("subject"), "\(odd.errors)")
    }
}
