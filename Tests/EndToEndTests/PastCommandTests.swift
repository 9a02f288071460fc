import Testing
import TomboloJSON

@testable import TomboloProgram

/// The past as somebody at a shell asks for it: `activity diff` and `activity show --at`.
@Suite(.serialized) struct PastCommandTests {
    @Test func `two versions are compared, and the past has its destinations`() throws {
        let dev = try RunningRelay()
        let started = try dev.tombolo(
            "start", "cat", "--type", "RunnerWidgetAttributes", "--device", "phone-1", "-s",
            "lap=1", "-s", "name=Mike", "--wait", "10s")
        #expect(started.status == 0, "\(started.errors)")
        let updated = try dev.tombolo("update", "cat", "-s", "lap=2", "-s", "at=home")
        #expect(updated.status == 0, "\(updated.errors)")

        let table = try dev.tombolo("activity", "diff", "cat", "1..2", "-o", "table")
        #expect(table.status == 0, "\(table.errors)")
        let rows = table.output.split(separator: "\n").map { $0.split(separator: " ") }
        #expect(rows.dropFirst() == [["/lap", "1", "2"], ["/at", #""home""#]])
        let view = try json(try dev.tombolo("activity", "diff", "cat", "2..1", "-o", "json").output)
        #expect(view["activity"]?.string == "cat")
        #expect(view["from"]?["version"]?.integer == 2 && view["to"]?["version"]?.integer == 1)
        let changes = view["changes"].map { Array($0.elements) } ?? []
        #expect(changes.compactMap { $0["pointer"]?.string } == ["/lap", "/at"])
        #expect(changes.map { $0["before"]?.integer } == [2, nil])
        #expect(changes.map { $0["after"] == nil } == [false, true])
        let same = try dev.tombolo("activity", "diff", "cat", "2..2", "-o", "table")
        #expect(same.output == "nothing changed in the state\n")
        #expect(try dev.tombolo("activity", "diff", "cat", "1..9").status == 1)
        #expect(try dev.tombolo("activity", "diff", "none", "1..2").status == 3)

        let past = try json(try dev.tombolo("activity", "show", "cat", "--at", "2").output)
        #expect(past["version"]?.integer == 2 && past["as_of"]?.string != nil)
        let destination = past["destinations"]?.elements.first { _ in true }
        #expect(destination?["device"]?.string == "phone-1", "\(past.json)")
        #expect(destination?["acknowledged_version"]?.integer == 1)
        #expect(destination?["result"]?.string == "accepted")
        let shown = try dev.tombolo("activity", "show", "cat", "--at", "2", "-o", "table").output
        #expect(shown.contains("ACCEPTED AT") && shown.contains("push_to_start"), "\(shown)")
        let first = try json(try dev.tombolo("activity", "show", "cat", "--at", "1").output)
        #expect(first["state"]?["lap"]?.integer == 1)
        #expect(first["destinations"]?.count == 0, "nothing had gone when it was said")
    }
}
