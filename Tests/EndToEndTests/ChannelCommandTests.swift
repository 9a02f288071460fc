import Glibc
import Testing
import TomboloJSON

@testable import TomboloProgram

/// Broadcast channels from the command line to the phones: `dev` with its simulator of Apple.
@Suite(.serialized) struct ChannelCommandTests {
    private let relay: RunningRelay

    init() throws { relay = try RunningRelay(dev: ["--phones", "1"]) }

    /// The activity as soon as its phone shows a state; nil where it does not in time.
    private func shown(_ id: String, _ state: String) throws -> JSONView? {
        let end = time(nil) + 30
        while time(nil) < end {
            let answer = try relay.tombolo("activity", "show", id, "-o", "json")
            let view = try json(answer.output)
            let first = view["destinations"]?.elements.first { $0["device"] != nil }
            if first?["shown"]?["matches"]?.bool == true,
                view["state"].map({ String(decoding: $0.raw, as: UTF8.self) }) == state
            {
                return view
            }
        }
        return nil
    }

    @Test func `a channel is made, shown, listed, used and deleted`() throws {
        let tried = try json(
            try relay.tombolo("channel", "put", "final", "--dry-run", "-o", "json").output)
        #expect(tried["dry_run"]?.bool == true)
        #expect(tried["storage"]?.string == "most_recent")
        #expect(tried["id"] == nil, "Apple was not asked for one")
        #expect(try relay.tombolo("channel", "show", "final").status == 3)
        let made = try relay.tombolo("channel", "put", "final", "-o", "json")
        #expect(made.status == 0, "\(made.errors)")
        let id = try #require(try json(made.output)["id"]?.string)
        let again = try relay.tombolo("channel", "put", "final", "-o", "json")
        #expect(try json(again.output)["id"]?.string == id)
        let other = try relay.tombolo("channel", "put", "final", "--storage", "none")
        #expect(other.status == 3, "storage never changes")
        let shown = try relay.tombolo("channel", "show", "final", "-o", "json")
        #expect(try json(shown.output)["registered"]?.bool == true)
        let list = try json(try relay.tombolo("channel", "ls", "-o", "json").output)
        let app = try #require(list["apps"]?.elements.first { _ in true })
        #expect(app["used"]?.integer == 1)
        #expect(app["limit"]?.integer == 10_000)
        #expect(app["unknown"]?.count == 0)

        let start = try relay.tombolo(
            "start", "match", "--type", "Score", "--channel", "final", "-s", "goals=0", "--wait",
            "2s", "-o", "json")
        #expect(start.status == 0, "\(start.errors)")
        let activity = try json(try relay.tombolo("activity", "show", "match", "-o", "json").output)
        let destination = try #require(activity["destinations"]?.elements.first { _ in true })
        #expect(destination["channel"]?.string == "final")
        #expect(destination["route"]?.string == "channel")
        #expect(destination["result"]?.string == "accepted")
        #expect(try relay.tombolo("channel", "rm", "final").status == 3, "it is in use")
        #expect(try relay.tombolo("channel", "rm", "final", "--dry-run").status == 3)
        #expect(try relay.tombolo("end", "match").status == 0)
        #expect(try relay.tombolo("channel", "rm", "final", "--dry-run").status == 0)
        #expect(try relay.tombolo("channel", "show", "final").status == 0)
        #expect(try relay.tombolo("channel", "rm", "final").status == 0)
        #expect(try relay.tombolo("channel", "show", "final").status == 3)
        let left = try json(try relay.tombolo("channel", "ls", "-o", "json").output)
        #expect(left["apps"]?.elements.first { _ in true }?["used"]?.integer == 0)
        #expect(try relay.terminate() == 0)
    }

    @Test func `a phone that is made to listen shows what the channel says`() throws {
        #expect(try relay.tombolo("channel", "put", "final").status == 0)
        let early = try relay.tombolo("phone", "listen", "phone-1", "final")
        #expect(early.status == 3 && early.errors.contains("no activity"), "\(early.errors)")
        let start = try relay.tombolo(
            "start", "match", "--type", "Score", "--channel", "final", "-s", "goals=0", "--wait",
            "2s", "-o", "table")
        #expect(start.output.contains("who listens is unknown"), "\(start.output)")
        let listening = try relay.tombolo("phone", "listen", "phone-1", "final", "-o", "table")
        #expect(listening.status == 0, "\(listening.errors)")
        #expect(listening.output.contains("match: active, shows {\"goals\":0}"))
        let again = try relay.tombolo("phone", "listen", "phone-1", "final")
        #expect(again.status != 0 && again.errors.contains("already"), "\(again.errors)")
        #expect(try relay.tombolo("update", "match", "-s", "goals=1").status == 0)
        let shown = try relay.tombolo(
            "expect", "phone-1", "match", "-s", "goals=1", "--within", "20s")
        #expect(shown.status == 0, "\(shown.errors)")
        #expect(try relay.terminate() == 0)
    }

    @Test func `a card on a channel of its own follows without an update token`() throws {
        let start = try relay.tombolo(
            "start", "cat-7", "--type", "RunnerWidgetAttributes", "--device", "phone-1",
            "--start", "channel", "-s", "image=AAAA", "-s", "lap=0", "--wait", "5s", "-o", "json")
        #expect(start.status == 0, "\(start.errors)")
        #expect(try relay.tombolo("update", "cat-7", "-s", "lap=1").status == 0)
        let view = try #require(try shown("cat-7", #"{"image":"AAAA","lap":1}"#))
        let phases = view["destinations"].map { $0.elements.compactMap { $0["phase"]?.string } }
        #expect(phases == ["listening", "live"])
        let device = try relay.tombolo("device", "show", "phone-1", "-o", "json").output
        #expect(!device.contains("activity:cat-7"), "the phone was given no update token")
        #expect(try relay.terminate() == 0)
    }
}
