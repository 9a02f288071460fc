import CoreRig
import Testing
import TomboloJSON

@testable import TomboloCore

/// A reader of thousands of doors finds each of them.
@Suite struct ManyTimelinesTests {
    private static let count = 2_100

    private static func doors(_ count: Int = count) -> Rig {
        var rig = Rig()
        rig.type(#"{"intents":["UnlockDoor"]}"#, named: "Door")
        rig.register("phone", #"{"user":"u42","os":"26.1"}"#)
        for index in 0..<count {
            let id = "d" + String(10_000 + index)
            rig.timeline(
                #"{"subject":{"key":"\#(id)","readers":{"users":["u42"]}},"type":"Door","#
                    + #""content":{},"url":"door://\#(id)"}"#, kind: "door")
        }
        return rig
    }

    @Test func `pages of choices have all of them, each once, in order`() throws {
        let rig = Self.doors()
        var (all, after): ([String], [String]?) = ([], nil)
        repeat {
            let page = try rig.choices("door", after: after)
            #expect(page.choices.count <= TimelineListing.choices)
            all += page.choices.map(\.key.rawValue)
            after = page.next
        } while after != nil
        #expect(all == (0..<Self.count).map { "d" + String(10_000 + $0) })
    }

    @Test
    func `only timelines of the kind are examined, and one that left meanwhile is not shown`()
        throws
    {
        var rig = Self.doors(10)
        rig.timeline(
            #"{"subject":{"key":"d10003","readers":{"users":["u43"]}},"content":{}}"#,
            kind: "door")
        rig.timeline(
            #"{"subject":{"key":"d10004","readers":{"users":["u42"]}},"content":{}}"#,
            kind: "window")
        let ids = try rig.choices("door").choices.map(\.key.rawValue)
        #expect(ids.count == 9 && !ids.contains("d10003"))
        #expect(try rig.choices("window").choices.map(\.key.rawValue) == ["d10004"])
    }

    @Test func `a tap on the last of them is offered`() {
        var rig = Self.doors()
        let last = "d" + String(10_000 + Self.count - 1)
        for body in [
            #"{"link":"door://\#(last)"}"#, #"{"intent":"UnlockDoor"}"#,
            #"{"widget":"door","config":"\#(last)","intent":"UnlockDoor"}"#,
        ] {
            ActionTests.post(&rig, body)
            #expect(rig.lastRefusal == nil, "\(body)")
        }
    }

    @Test func `beyond what is looked through a tap says what to add`() {
        var rig = Self.doors(TimelineTable.shownMax + 1)
        ActionTests.post(&rig, #"{"link":"door://nowhere"}"#)
        #expect(rig.lastRefusal == .notOffered)
        #expect(rig.lastRefused?.detail.contains(#"give "widget" and "config" too"#) == true)
        let last = "d" + String(10_000 + TimelineTable.shownMax)
        ActionTests.post(
            &rig, #"{"widget":"door","config":"\#(last)","link":"door://\#(last)"}"#)
        #expect(rig.lastRefusal == nil)
    }
}

extension Rig {
    /// A page of what the phone may choose for a widget.
    func choices(
        _ kind: String, family: WidgetFamily? = nil, after: [String]? = nil,
        atMost: Int = TimelineListing.choices
    ) throws -> (choices: [(key: Identifier, now: TimelineEntries)], next: [String]?) {
        let reader = TimelineReader.device(Identifier("phone")!, boundTo: nil)
        var listing = try core.choosable(
            try #require(Identifier(kind)), app: nil, by: reader, after: after, of: Rig.tenant)
        while listing.place != nil { core.collect(&listing) }
        return core.choices(listing, family: family, by: reader, now: now, atMost: atMost)
    }
}
