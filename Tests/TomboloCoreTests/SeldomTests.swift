import Testing

@testable import TomboloCore

/// A large value that is mostly absent.
@Suite struct SeldomTests {
    private struct Holder {
        @Seldom var list: [Int]?

        var first: Int? { _list.value.first }

        mutating func append(_ number: Int) { _list.value.append(number) }
    }

    @Test func `it takes a pointer's room, whatever it holds`() {
        #expect(MemoryLayout<Seldom<[Int]>>.size == MemoryLayout<UnsafeRawPointer?>.size)
        #expect(
            MemoryLayout<Destination>.stride <= 280, "a hundred thousand of them are at rest")
        #expect(MemoryLayout<Device?>.stride <= 128)
    }

    @Test func `it comes, changes in place, and goes`() {
        var holder = Holder(list: nil)
        #expect(holder.list == nil)
        holder.list?.append(1)
        #expect(holder.list == nil)
        holder.list = [1]
        holder.list?.append(2)
        #expect(holder.list == [1, 2])
        holder.list = nil
        #expect(holder.list == nil)
    }

    @Test func `it is read and changed in its box`() {
        var holder = Holder(list: [1])
        let copy = holder
        holder.append(2)
        #expect(holder.first == 1 && holder.list == [1, 2])
        #expect(copy.list == [1], "the copy keeps its own")
    }

    @Test func `copies do not see each other's changes`() {
        var one = Holder(list: [1])
        var other = one
        one.list?.append(2)
        #expect(other.list == [1])
        other.list = nil
        #expect(one.list == [1, 2])
    }
}
