/// An index into a table of the core.
///
/// A slot of one table does not compile as a slot of another. A range of slots is a collection of
/// them.
struct Slot<Table>: Hashable, Comparable, Strideable, Sendable {
    /// From 0, in the order of the rows.
    let place: Int

    init(_ place: Int) { self.place = place }

    static func < (one: Slot, other: Slot) -> Bool { one.place < other.place }
    func distance(to other: Slot) -> Int { other.place - place }
    func advanced(by count: Int) -> Slot { Slot(place + count) }
}

/// The tables that have slots, as names for `Slot`.
enum Tables {
    enum Activities {}
    enum Cards {}
    enum Devices {}
    enum Surfaces {}
    enum Timelines {}
}

typealias ActivitySlot = Slot<Tables.Activities>
/// A destination's slot: that of a card, or of a broadcast channel with an activity.
typealias CardSlot = Slot<Tables.Cards>
/// The slot of a device or of a broadcast channel.
typealias DeviceSlot = Slot<Tables.Devices>
/// The slot of a device's widgets, or of a control.
typealias SurfaceSlot = Slot<Tables.Surfaces>
typealias TimelineSlot = Slot<Tables.Timelines>
