import CoreRig
import Testing
import TomboloCore

/// Lists of activities, page by page.
@Suite struct ActivityPageTests {
    /// All ids, and of how many each page was.
    static func pages(_ rig: Rig, limit: Int) -> (ids: [String], counts: [Int]) {
        var ids: [String] = []
        var counts: [Int] = []
        var after: Identifier?
        repeat {
            let page = rig.core.views(
                of: Rig.tenant, status: nil, type: nil, user: nil, after: after, limit: limit,
                now: rig.now)
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
}
