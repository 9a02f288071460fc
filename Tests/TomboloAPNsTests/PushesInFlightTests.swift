import Testing
import TomboloAPNs
import TomboloCore
import TomboloLoop

struct PushesInFlightTests {
    private let now = MonotonicInstant(nanoseconds: 1)

    private func push(_ number: UInt64) -> Push {
        Push(
            id: PushID(number), upstream: UpstreamNumber(1), event: .update, token: "aa",
            apnsID: "",
            priority: 5, expiration: 0, payload: [])
    }

    @Test func `a push is found under its tag once`() {
        let pushes = PushesInFlight()
        let tag = pushes.insert(push(7), at: now)
        pushes.assign(tag, to: 3, tokenGeneration: 2)
        #expect(pushes.place(of: tag)?.pointee == push(7))
        let removed = pushes.remove(tag)
        #expect(pushes.place(of: tag) == nil)
        #expect(removed?.id == PushID(7))
        #expect(removed?.connection == 3)
        #expect(removed?.tokenGeneration == 2)
        #expect(pushes[tag] == nil)
        #expect(pushes.remove(tag) == nil)
        #expect(pushes.count == 0)
        #expect(pushes.first == nil)
    }

    @Test func `a tag that was never given finds nothing`() {
        let pushes = PushesInFlight()
        #expect(pushes.remove(0) == nil)
        _ = pushes.insert(push(1), at: now)
        #expect(pushes.remove(.max) == nil)
        #expect(pushes.remove(1) == nil)
        #expect(pushes.count == 1)
    }

    @Test func `a push that comes back from its connection keeps its place and its count`() {
        let pushes = PushesInFlight()
        let tag = pushes.insert(push(1), at: now)
        _ = pushes.insert(push(2), at: now)
        pushes.assign(tag, to: 3, tokenGeneration: 1)
        pushes.unassign(tag)
        #expect(pushes[tag]?.connection == nil)
        pushes.assign(tag, to: 4, tokenGeneration: 1)
        #expect(pushes[tag]?.attempts == 2)
        #expect(pushes.first == tag)
    }

    @Test func `a slot that is used again does not answer to its old tag`() {
        let pushes = PushesInFlight()
        let old = pushes.insert(push(1), at: now)
        _ = pushes.remove(old)
        let new = pushes.insert(push(2), at: now)
        #expect(old != new)
        #expect(pushes.remove(old) == nil)
        #expect(pushes.remove(new)?.id == PushID(2))
    }

    @Test func `the oldest stays first through any order of removal`() {
        let pushes = PushesInFlight()
        var model: [(tag: UInt64, number: UInt64)] = []
        // A walk that is the same each time: no chance is needed to visit head, tail and middle.
        for step in 0..<5_000 as Range<UInt64> {
            if step % 5 < 3 || model.isEmpty {
                model.append((pushes.insert(push(step), at: now), step))
            } else {
                let place = Int(step &* 2_654_435_761 % UInt64(model.count))
                let gone = model.remove(at: place)
                #expect(pushes.remove(gone.tag)?.id == PushID(gone.number))
            }
            #expect(pushes.count == model.count)
            #expect(pushes.first == model.first?.tag)
            let first = pushes.first.flatMap { pushes[$0]?.id.rawValue }
            #expect(first == model.first?.number)
        }
        while let first = pushes.first {
            #expect(first == model.removeFirst().tag)
            _ = pushes.remove(first)
        }
        #expect(model.isEmpty)
    }
}
