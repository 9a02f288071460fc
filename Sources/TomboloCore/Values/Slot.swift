/// An index into one of the core's tables. The compiler does not accept a slot of one table as a
/// slot of another. A range of slots is a collection of slots.
struct Slot<Table>: Hashable, Comparable, Strideable, Sendable {
    /// The index, from 0.
    let place: Int

    init(_ place: Int) { self.place = place }

    static func < (one: Slot, other: Slot) -> Bool { one.place < other.place }
    func distance(to other: Slot) -> Int { other.place - place }
    func advanced(by count: Int) -> Slot { Slot(place + count) }
}

/// The tables that have slots, as type parameters of `Slot`.
enum Tables {
    enum Activities {}
    enum Cards {}
    enum Devices {}
    enum Surfaces {}
    enum Timelines {}
}

typealias ActivitySlot = Slot<Tables.Activities>
/// The slot of a destination, for a card or for a broadcast channel.
typealias CardSlot = Slot<Tables.Cards>
/// The slot of a device or of a broadcast channel.
typealias DeviceSlot = Slot<Tables.Devices>
/// The slot of a device's widgets, or of a control.
typealias SurfaceSlot = Slot<Tables.Surfaces>
typealias TimelineSlot = Slot<Tables.Timelines>
