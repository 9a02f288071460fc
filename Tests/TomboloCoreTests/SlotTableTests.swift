import Testing

@testable import TomboloCore

/// A table whose values keep their places.
@Suite struct SlotTableTests {
    private struct Name: SlotValue {
        static let vacant = Name("")
        var isVacant: Bool { text.isEmpty }
        var text: String
        init(_ text: String) { self.text = text }
    }

    @Test func `values keep their places, and the place that became vacant last is the next`() {
        var table = SlotTable<Name, Name>()
        #expect(["a", "b", "c"].map { table.insert(Name($0)) } == [0, 1, 2])
        table.remove(0)
        table.remove(1)
        #expect(table.indices == 0..<3 && table.count == 1)
        #expect(table.insert(Name("d")) == 1)
        #expect(table.insert(Name("e")) == 0)
        #expect(table.insert(Name("f")) == 3)
        #expect((0..<4).map { table[$0].text } == ["e", "d", "c", "f"])
    }

    @Test func `a vacant place is held by nobody`() {
        var table = SlotTable<Name, Name>()
        #expect(!table.holds(0) && table.at(0)?.text == nil)
        let slot = table.insert(Name("a"))
        #expect(table.holds(slot) && table.at(slot)?.text == "a")
        table.remove(slot)
        table.remove(slot)
        #expect(!table.holds(slot) && table.at(slot)?.text == nil)
        #expect(table.count == 0)
        #expect([table.insert(Name("b")), table.insert(Name("c"))] == [0, 1], "it was freed once")
    }

    @Test func `a value is changed where it is`() {
        var table = SlotTable<Name, Name>()
        let slot = table.insert(Name("a"))
        let copy = table
        table[slot].text += "b"
        #expect(table[slot].text == "ab" && copy[slot].text == "a")
    }

    @Test func `an empty place is not a destination`() {
        #expect(Destination.vacant.isVacant)
        let first = Destination(
            number: 1, activity: 0, device: 0, incarnation: 1, upstream: UpstreamNumber(0),
            ledger: Ledger(since: 1), phaseSince: .distantPast)
        #expect(!first.isVacant)
    }
}
