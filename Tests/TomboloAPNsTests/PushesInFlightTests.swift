import Testing
import TomboloAPNs
import TomboloCore
import TomboloLoop

struct PushesInFlightTests {
    private func entry(_ number: UInt64) -> PushesInFlight.Entry {
        PushesInFlight.Entry(
            push: PushID(number), handedOverAt: MonotonicInstant(nanoseconds: Int64(number)))
    }

    @Test func `a push is found under its tag once`() {
        var pushes = PushesInFlight()
        let tag = pushes.insert(entry(7))
        pushes.assign(tag, connection: 3, tokenGeneration: 2)
        let removed = pushes.remove(tag)
        #expect(removed?.push == PushID(7))
        #expect(removed?.connection == 3)
        #expect(removed?.tokenGeneration == 2)
        #expect(pushes.remove(tag) == nil)
        #expect(pushes.count == 0)
        #expect(pushes.first == nil)
    }

    @Test func `a tag that was never given finds nothing`() {
        var pushes = PushesInFlight()
        #expect(pushes.remove(0) == nil)
        _ = pushes.insert(entry(1))
        #expect(pushes.remove(.max) == nil)
        #expect(pushes.remove(1) == nil)
        #expect(pushes.count == 1)
    }

    @Test func `a slot that is used again does not answer to its old tag`() {
        var pushes = PushesInFlight()
        let old = pushes.insert(entry(1))
        _ = pushes.remove(old)
        let new = pushes.insert(entry(2))
        #expect(old != new)
        #expect(pushes.remove(old) == nil)
        #expect(pushes.remove(new)?.push == PushID(2))
    }

    @Test func `the oldest stays first through any order of removal`() {
        var pushes = PushesInFlight()
        var model: [(tag: UInt64, number: UInt64)] = []
        // A walk that is the same each time: no chance is needed to visit head, tail and middle.
        for step in 0..<5_000 as Range<UInt64> {
            if step % 5 < 3 || model.isEmpty {
                model.append((pushes.insert(entry(step)), step))
            } else {
                let place = Int(step &* 2_654_435_761 % UInt64(model.count))
                let gone = model.remove(at: place)
                #expect(pushes.remove(gone.tag)?.push == PushID(gone.number))
            }
            #expect(pushes.count == model.count)
            #expect(pushes.first?.entry.push.rawValue == model.first?.number)
            #expect(pushes.first?.tag == model.first?.tag)
        }
        while let first = pushes.first {
            #expect(first.tag == model.removeFirst().tag)
            _ = pushes.remove(first.tag)
        }
        #expect(model.isEmpty)
    }
}
