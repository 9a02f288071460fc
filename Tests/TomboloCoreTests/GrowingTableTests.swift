import Testing

@testable import TomboloCore

/// Tables that grow without copies behave like those of the standard library.
@Suite struct GrowingTableTests {
    @Test func `an array of slots keeps what it has over many chunks`() {
        var table = SlotArray<Tables.Cards, [Int]>()
        #expect(table.isEmpty)
        for number in 0..<3_000 { #expect(table.append([number]) == CardSlot(number)) }
        let copy = table
        for slot in table.indices { table[slot].append(7) }
        #expect(table.count == 3_000 && copy.count == 3_000)
        #expect(table.enumerated().allSatisfy { $1 == [$0, 7] })
        #expect(copy.enumerated().allSatisfy { $1 == [$0] }, "a copy has its own")
    }

    @Test func `a sharded dictionary is a dictionary`() {
        var chance = Chance(3)
        var (tried, known) = (ShardedDictionary<Int, [Int]>(), [Int: [Int]]())
        #expect(tried[1] == nil && tried.count == 0 && Array(tried.values).isEmpty)
        for step in 0..<20_000 {
            let key = Int(chance.next() % 700)
            switch chance.next() % 5 {
            case 0: (tried[key], known[key]) = ([step], [step])
            case 1: (tried[key], known[key]) = (nil, nil)
            case 2:
                #expect(tried.removeValue(forKey: key) == known.removeValue(forKey: key))
            case 3:
                tried[key, default: [1]].append(step)
                known[key, default: [1]].append(step)
            default:
                #expect(tried.updateValue([2], forKey: key) == known.updateValue([2], forKey: key))
                tried[key]?.append(step)
                known[key]?.append(step)
            }
            #expect(tried[key] == known[key] && tried.count == known.count)
        }
        #expect(
            tried.values.map(\.description).sorted() == known.values.map(\.description).sorted())
    }

    @Test func `a queue in chunks gives what came first`() {
        var (queue, next) = (ChunkedQueue<Int>(), 0)
        for number in 0..<20_000 {
            queue.enqueue(number)
            guard number.isMultiple(of: 3) else { continue }
            #expect(queue.first == next)
            queue.removeFirst()
            next += 1
        }
        while let first = queue.first {
            #expect(first == next)
            queue.removeFirst()
            next += 1
        }
        #expect(next == 20_000 && queue.count == 0)
    }

    @Test func `a key reaches so many destinations at once, and then so many a second`() {
        var (rates, limits) = (KeyRates(), Limits())
        limits.destinationsPerKeyPerSecond = 2_000
        let (one, other) = (AskingKey(rawValue: 1), AskingKey(rawValue: 2))
        var now = Instant(seconds: 100)
        func take(_ count: Int, _ key: AskingKey) -> Span? {
            do {
                try rates.spend(count, by: key, limits, now: now)
                return nil
            } catch {
                #expect(error.code == .overloaded)
                #expect(error.detail.contains("limits.destinations_per_key_per_second"))
                return error.retryAfter
            }
        }
        for _ in 0..<20 { #expect(take(1_000, one) == nil) }
        #expect(take(1_000, one) == .milliseconds(500))
        #expect(take(1, one) != nil && take(0, one) == nil)
        #expect(take(1_000, other) == nil, "each key has its own")
        #expect(take(1 << 40, .relay) == nil && take(1 << 40, .unknown) == nil)
        #expect(take(1 << 40, one) != nil)
        now = now + .milliseconds(500)
        #expect(take(1_000, one) == nil && take(1, one) != nil)
        now = now + .seconds(60)
        #expect(take(20_000, one) == nil && take(1, one) != nil)
        // The largest start passes also where little is allowed.
        limits.destinationsPerKeyPerSecond = 1
        #expect(take(10_000, AskingKey(rawValue: 3)) == nil)
        #expect(take(50_000, AskingKey(rawValue: 4)) == nil, "an idle key ends what it once began")
        #expect(take(1, AskingKey(rawValue: 4)) != nil)
    }
}
