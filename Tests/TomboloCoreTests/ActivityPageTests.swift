import CoreRig
import Testing
import TomboloCore

/// Lists of activities, page by page.
@Suite struct ActivityPageTests {
    /// All ids, and of how many each page was.
    static func pages(_ rig: borrowing Rig, limit: Int) -> (ids: [String], counts: [Int]) {
        var ids: [String] = []
        var counts: [Int] = []
        var after: Identifier?
        repeat {
            let page = rig.activities(after: after, limit: limit)
            ids += page.views.map(\.key.id.rawValue)
            counts.append(page.views.count)
            after = page.next
        } while after != nil
        return (ids, counts)
    }

    static func started(_ ids: [String], bytes: Int = 1) -> Rig {
        var rig = Rig()
        for id in ids {
            let text = String(repeating: "x", count: bytes)
            rig.command(.start, #"{"type":"T","state":{"s":"\#(text)"}}"#, id: id)
        }
        return rig
    }

    @Test(arguments: [1, 3, 7, 100])
    func `every activity is on one page, in the order of ids`(limit: Int) {
        let ids = ["m", "c", "x", "a", "n", "b", "z"]
        let pages = Self.pages(Self.started(ids), limit: limit)
        #expect(pages.ids == ids.sorted())
        #expect(pages.counts.allSatisfy { $0 <= limit })
    }

    @Test func `a page ends where its states come to a megabyte`() {
        let ids = (0..<600).map { "cat-\(1_000 + $0)" }
        let pages = Self.pages(Self.started(ids, bytes: 3_500), limit: 1_000)
        #expect(pages.ids == ids)
        // {"s":"…"} of 3,508 bytes: 298 of them are within 1,048,576.
        #expect(pages.counts == [298, 298, 4])
    }

    @Test func `a page ends where its cards come to a megabyte`() {
        var rig = Rig()
        let names = (0..<1_000).map { "\"d-\($0)\"" }.joined(separator: ",")
        for id in (0..<9).map({ "cat-\($0)" }) {
            rig.command(
                .start, #"{"type":"T","audience":{"devices":[\#(names)]},"state":{}}"#, id: id)
        }
        for name in 0..<1_000 { rig.device("d-\(name)") }
        let pages = Self.pages(rig, limit: 1_000)
        #expect(pages.ids.count == 9)
        // 280 kB each.
        #expect(pages.counts == [3, 3, 3])
    }

    @Test func `a page of devices ends where their tokens come to a megabyte`() {
        var rig = Rig()
        for device in 0..<100 {
            rig.device("d-\(100 + device)")
            for token in 0..<100 {
                rig.token("start:T\(token)", "\(100 + device)\(100 + token)", "d-\(100 + device)")
            }
        }
        var ids: [String] = []
        var after: Identifier?
        repeat {
            var list = DeviceList(DeviceFilter(tenant: Rig.tenant), after: after, limit: 1_000)
            while !list.isWhole { list.collectMore(of: rig.core, now: rig.now) }
            let (views, next) = list.views(of: rig.core, now: rig.now)
            #expect(views.reduce(0) { $0 + $1.tokens.count } < 6_000)
            ids += views.map(\.id.rawValue)
            after = next
        } while after != nil
        #expect(ids == (100..<200).map { "d-\($0)" })
    }

    @Test func `a page of types ends where their schemas come to a megabyte`() throws {
        var rig = Rig()
        let text = String(repeating: "x", count: 60_000)
        let body = #"{"state":{"properties":{"\#(text)":{"type":"integer"}}}}"#
        for name in 0..<40 {
            rig.step(
                .type(
                    try ActivityType(reading: Rig.json(body)), name: "T\(name + 10)", app: nil,
                    Rig.tenant, Ticket(5)))
        }
        var names: [String] = []
        var after: (app: String, name: String)?
        repeat {
            let (views, next) = rig.core.typeViews(of: Rig.tenant, after: after, limit: 1_000)
            #expect(views.count < 20)
            names += views.map(\.name)
            after = next
        } while after != nil
        #expect(names == (10..<50).map { "T\($0)" })
    }

    @Test func `a long list is collected in pieces`() {
        var rig = Rig { $0.limits.runningPerTenantMax = .max }
        let count = 20_000
        for id in 0..<count { rig.command(.start, #"{"type":"T","state":{}}"#, id: "a-\(id)") }
        let filter = ActivityFilter(tenant: Rig.tenant, status: nil, type: nil, user: nil)
        var page = IDPage(after: nil, limit: 10)
        var pieces = 0
        while page.place != nil {
            rig.core.collect(&page, filter)
            pieces += 1
        }
        #expect(pieces > 1)
        #expect(
            rig.core.views(page, filter, now: rig.now).views.map(\.key.id.rawValue)
                == (0..<count).map { "a-\($0)" }.sorted().prefix(10).map { $0 })
        var (overview, place): (Overview, Int?) = (Overview(), 0)
        var looks = 0
        while let next = place {
            place = rig.core.look(&overview, of: Rig.tenant, from: next, now: rig.now)
            looks += 1
        }
        #expect(looks > 2)
        #expect(overview.unreached == count)
    }

    @Test func `a device is silent after its last request has become old`() {
        var rig = Rig()
        rig.device("d-1")
        rig.device("d-2")
        rig.now = rig.now + .minutes(50)
        rig.device("d-2")
        rig.now = rig.now + .minutes(20)
        let filter = DeviceFilter(tenant: Rig.tenant, silentFor: .hours(1))
        var list = DeviceList(filter, after: nil, limit: 10)
        while !list.isWhole { list.collectMore(of: rig.core, now: rig.now) }
        let views = list.views(of: rig.core, now: rig.now).views
        #expect(views.map(\.id.rawValue) == ["d-1"])
        #expect(views.first?.glance?.showsCount == 0)
    }
}
