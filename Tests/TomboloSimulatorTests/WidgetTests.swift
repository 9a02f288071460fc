import TestSupport
import Testing
import TomboloJSON

@testable import TomboloSimulator

/// Widgets on a phone: when they fetch, what they show, and what a tap on one does.
@Suite struct WidgetTests {
    private static let changed = #"{"aps":{"content-changed":true}}"#
    private static let small = Widget.Key(kind: "profile", family: .systemSmall)

    /// A phone with one widget that has fetched entries at these seconds from now.
    private func bench(
        _ entries: [Int64] = [0], policy: String = #""never""#,
        _ configure: (inout PhoneConfiguration) -> Void = { _ in }
    ) throws -> PhoneBench {
        var bench = PhoneBench(configure)
        bench.carryOut(bench.phone.addWidget(Self.small, at: bench.now))
        try answer(&bench, entries, policy: policy)
        return bench
    }

    private func answer(
        _ bench: inout PhoneBench, _ entries: [Int64], policy: String = #""never""#,
        rank: Int64 = 0
    ) throws {
        let list = entries.map { seconds in
            let date = (bench.now + .seconds(seconds)).rfc3339
            return #"{"date":"\#(date)","content":{"rank":\#(rank + seconds)},"url":"app://me"}"#
        }
        let text = #"{"entries":[\#(list.joined(separator: ","))],"policy":\#(policy)}"#
        let timeline = try #require(WidgetTimeline(Array(text.utf8), etag: "\"1\""))
        bench.carryOut(
            bench.phone.widgetFetched(Self.small, .timeline(timeline), at: bench.now))
    }

    private func shown(_ bench: PhoneBench) -> String? {
        bench.phone.board.widgets.first?.current.map {
            String(decoding: $0.content, as: UTF8.self)
        }
    }

    private func push(_ bench: inout PhoneBench) {
        bench.push(to: bench.surfaceTokens[.widget] ?? "", Self.changed, type: .widgets)
        bench.pass(.zero)
    }

    private func causes(_ bench: PhoneBench) -> [Widget.Cause?] { bench.fetches.map(\.fetching) }

    /// Of a widget with two doors each is tapped by itself, and the app opens with its page.
    @Test(
        arguments: [("b", nil), (nil, "door://b"), ("a", nil), (nil, nil)] as [(String?, String?)])
    func `an item of a widget is tapped with its own link`(item: String?, link: String?) throws {
        let large = Widget.Key(kind: "door", family: .systemLarge, config: "a,b")
        var bench = PhoneBench()
        bench.carryOut(bench.phone.addWidget(large, at: bench.now))
        let text = """
            {"entries":[{"date":"\(bench.now.rfc3339)","content":{"items":[{"id":"a"},{"id":"b"}]},
            "url":"door://a","links":["door://a","door://b"]}],"policy":"never","type":"Door"}
            """
        let timeline = try #require(WidgetTimeline(Array(text.utf8), etag: nil))
        bench.carryOut(bench.phone.widgetFetched(large, .timeline(timeline), at: bench.now))
        bench.carryOut(
            bench.phone.tapWidget(
                large, item: item, link: link, intent: nil, parameters: nil, at: bench.now))
        let door = item ?? link.map { String($0.suffix(1)) } ?? "a"
        #expect(bench.phone.lastTap?.config == door)
        #expect(bench.phone.lastTap?.link == "door://\(door)")
        #expect(bench.phone.openedPage?.type == "Door")
        #expect(bench.phone.openedPage?.state == Array(#"{"id":"\#(door)"}"#.utf8))
        bench.carryOut(
            bench.phone.tapWidget(
                large, item: "b", link: nil, intent: "Unlock", parameters: nil, at: bench.now))
        #expect(bench.phone.lastTap?.config == "b")
        #expect(bench.phone.lastTap?.link == nil)
        #expect(bench.phone.opened == "door://\(door)", "a button opens nothing")
    }

    @Test func `a widget shows the placeholder at once, and then what it has fetched`() throws {
        var bench = PhoneBench()
        bench.carryOut(bench.phone.addWidget(Self.small, at: bench.now))
        #expect(shown(bench) == nil)
        #expect(causes(bench) == [.placed])
        try answer(&bench, [0])
        #expect(shown(bench) == #"{"rank":0}"#)
        bench.carryOut(bench.phone.addWidget(Self.small, at: bench.now))
        #expect(bench.fetches.count == 1, "it is there already")
    }

    @Test func `each entry comes up by itself at its date, and not before`() throws {
        var bench = try bench([0, 10, 20])
        bench.pass(.milliseconds(9_999))
        #expect(shown(bench) == #"{"rank":0}"#)
        bench.pass(.milliseconds(1))
        #expect(shown(bench) == #"{"rank":10}"#)
        #expect(bench.phone.deadline == bench.now + .seconds(10))
        bench.pass(.seconds(60))
        #expect(shown(bench) == #"{"rank":20}"#)
        #expect(bench.fetches.count == 1, "policy never")
        #expect(bench.phone.board.widgets.first?.drawnCount == 3)
    }

    @Test func `at the end it fetches after the last entry's date, and after(date) not before it`()
        throws
    {
        var atEnd = try bench([0, 400], policy: #""atEnd""#)
        atEnd.pass(.seconds(399))
        #expect(atEnd.fetches.count == 1)
        atEnd.pass(.seconds(1))
        #expect(causes(atEnd) == [.placed, .atEnd])
        let date = (PhoneBench.beginning + .seconds(900)).rfc3339
        var after = try bench([0, 400], policy: #"{"after":"\#(date)"}"#)
        after.pass(.seconds(899))
        #expect(after.fetches.count == 1)
        after.pass(.seconds(1))
        #expect(causes(after) == [.placed, .after])
    }

    @Test func `fetches by policy keep their distance, and a push does not wait for it`() throws {
        var bench = try bench([0], policy: #""atEnd""#)
        bench.pass(.seconds(299))
        #expect(bench.fetches.count == 1)
        push(&bench)
        #expect(causes(bench) == [.placed, .push])
        try answer(&bench, [0], policy: #""atEnd""#)
        bench.pass(.seconds(300))
        #expect(causes(bench) == [.placed, .push, .atEnd])
    }

    @Test func `a reload while a fetch runs brings one more`() throws {
        var bench = PhoneBench()
        bench.carryOut(bench.phone.addWidget(Self.small, at: bench.now))
        push(&bench)
        push(&bench)
        #expect(causes(bench) == [.placed])
        try answer(&bench, [0])
        #expect(causes(bench) == [.placed, .push])
    }

    @Test func `the day's fetches are counted, those for the app in front are not`() throws {
        var bench = try bench {
            $0.widgetRules.fetchesPerDay = 2
            $0.reloadBudget = nil
        }
        for _ in 0..<3 {
            push(&bench)
            if bench.phone.board.widgets.first?.fetching != nil { try answer(&bench, [0]) }
        }
        #expect(bench.fetches.count == 3, "placed, and two pushes")
        let widget = try #require(bench.phone.board.widgets.first)
        #expect(bench.phone.board.fetchesLeft(of: widget, at: bench.now) == 0)
        #expect(bench.phone.board.nextFetch(of: widget)?.at == bench.now + .seconds(86_400))
        bench.carryOut(bench.phone.reloadWidgets(kind: nil, at: bench.now))
        #expect(bench.fetches.count == 3, "no app is in front")
        bench.carryOut(bench.phone.move(to: .active, at: bench.now))
        bench.carryOut(bench.phone.reloadWidgets(kind: "other", at: bench.now))
        #expect(bench.fetches.count == 3)
        bench.carryOut(bench.phone.reloadWidgets(kind: "profile", at: bench.now))
        #expect(causes(bench).last == .app)
        try answer(&bench, [0])
        bench.pass(.seconds(86_400))
        #expect(bench.phone.board.fetchesLeft(of: widget, at: bench.now) == 2)
    }

    @Test func `a timeline that became shorter, or has gone, is shown as it is`() throws {
        var bench = try bench([0, 10, 20])
        bench.pass(.seconds(20))
        #expect(shown(bench) == #"{"rank":20}"#)
        push(&bench)
        try answer(&bench, [0], rank: 1)
        #expect(shown(bench) == #"{"rank":1}"#)
        push(&bench)
        bench.carryOut(
            bench.phone.widgetFetched(Self.small, .timeline(.empty), at: bench.now))
        #expect(shown(bench) == nil)
    }

    @Test func `offline nothing is fetched, and entries still come up`() throws {
        var bench = try bench([0, 10])
        bench.setOnline(false)
        push(&bench)
        bench.pass(.seconds(10))
        #expect(shown(bench) == #"{"rank":10}"#)
        #expect(bench.fetches.count == 1)
        bench.setOnline(true)
        bench.pass(.zero)
        #expect(causes(bench) == [.placed, .push])
    }

    @Test func `a fetch that fails is tried again, later each time, and nothing is lost`() throws {
        var bench = try bench()
        push(&bench)
        for wait in [2, 4, 8] {
            bench.carryOut(bench.phone.widgetFetched(Self.small, .failed, at: bench.now))
            #expect(shown(bench) == #"{"rank":0}"#)
            let count = bench.fetches.count
            bench.pass(.seconds(Int64(wait)) - .milliseconds(1))
            #expect(bench.fetches.count == count)
            bench.pass(.milliseconds(1))
            #expect(causes(bench).last == .retry)
        }
        bench.carryOut(bench.phone.widgetFetched(Self.small, .unchanged, at: bench.now))
        #expect(shown(bench) == #"{"rank":0}"#)
        #expect(bench.phone.board.widgets.first?.failuresInRow == 0)
    }

    @Test func `a tap opens what the entry says, a button opens nothing`() throws {
        var bench = try bench()
        bench.carryOut(bench.phone.setLocked(true, at: bench.now))
        bench.carryOut(
            bench.phone.tapWidget(
                Self.small, link: nil, intent: "Like", parameters: nil, at: bench.now))
        #expect(bench.phone.isLocked)
        #expect(bench.phone.lastTap?.intent == "Like")
        bench.carryOut(
            bench.phone.tapWidget(
                Self.small, link: nil, intent: nil, parameters: nil, at: bench.now))
        #expect(bench.phone.presence == .active)
        #expect(bench.phone.opened == "app://me")
        #expect(bench.phone.lastTap?.link == "app://me")
    }

    @Test func `a deed without a configuration means the widget without one`() throws {
        var bench = PhoneBench()
        for config in ["door-7", nil] {
            let key = Widget.Key(kind: "door", family: .systemSmall, config: config)
            bench.carryOut(bench.phone.addWidget(key, at: bench.now))
        }
        func meant(_ body: String) throws -> String? {
            let deed = try WidgetDeed(try JSONDocument(Array(body.utf8)).root)
            return deed.widget(on: bench.phone).map { $0.key.config ?? "none" }
        }
        #expect(try meant(#"{"widget":"door"}"#) == "none")
        #expect(try meant(#"{"widget":"door","config":"door-7"}"#) == "door-7")
        bench.carryOut(
            bench.phone.removeWidget(
                Widget.Key(kind: "door", family: .systemSmall), at: bench.now))
        #expect(try meant(#"{"widget":"door"}"#) == "door-7", "the only one")
    }

    @Test func `each device has its families`() {
        #expect(!PhoneConfiguration.Idiom.phone.has(.systemExtraLarge))
        #expect(PhoneConfiguration.Idiom.pad.has(.systemExtraLarge))
        for idiom in [PhoneConfiguration.Idiom.phone, .pad] {
            #expect(!idiom.has(.accessoryCorner))
            #expect(idiom.has(.accessoryRectangular))
        }
    }

    @Test func `with the app its widgets go, and there is a limit to them`() throws {
        var bench = try bench()
        bench.carryOut(bench.phone.reinstall(at: bench.now))
        #expect(bench.phone.board.widgets.isEmpty)
        for number in 0...WidgetRules.widgetsMax {
            let key = Widget.Key(kind: "k\(number)", family: .systemSmall)
            bench.carryOut(bench.phone.addWidget(key, at: bench.now))
        }
        #expect(bench.phone.board.widgets.count == WidgetRules.widgetsMax)
    }

    @Test(
        arguments: [
            ("2026-11-20T09:15:42Z", 1_795_166_142, 0), ("1970-01-01T00:00:00Z", 0, 0),
            ("2024-02-29T23:59:59.5Z", 1_709_251_199, 500_000_000),
            ("2026-11-20T10:15:42.000000001+01:00", 1_795_166_142, 1),
            ("2026-11-20T04:45:42-04:30", 1_795_166_142, 0),
        ] as [(String, Int64, Int64)])
    func `times of the relay are read`(_ text: String, _ seconds: Int64, _ more: Int64) {
        #expect(
            WallInstant(rfc3339: text)
                == WallInstant(nanoseconds: seconds * 1_000_000_000 + more))
    }

    @Test(arguments: [
        "", "2026-11-20", "2026-11-20T09:15:42", "2026-13-20T09:15:42Z", "2026-11-20T09:15:42.Z",
        "2026-11-20T09:15:42Zx", "2026-11-20T24:15:42Z", "2026-11-20T09:15:42+0100",
        "2026-11-20T09:15:42+01:0", "+026-11-20T09:15:42Z",
    ])
    func `what is no time is none`(_ text: String) {
        #expect(WallInstant(rfc3339: text) == nil)
    }

    @Test func `an instant that is written is read back`() {
        for step in -1_000...1_000 {
            let micros = Int64(step) * 8_999_999_999_973
            let instant = WallInstant(nanoseconds: micros * 1_000)
            #expect(WallInstant(rfc3339: instant.rfc3339) == instant)
        }
    }
}
