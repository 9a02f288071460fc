/// A place in a table of the core.
///
/// A place of one table does not compile as a place of another. A range of places is a collection
/// of them.
struct Slot<Table>: Hashable, Comparable, Strideable, Sendable {
    /// From 0, in the order of the rows.
    let place: Int

    init(_ place: Int) { self.place = place }

    static func < (one: Slot, other: Slot) -> Bool { one.place < other.place }
    func distance(to other: Slot) -> Int { other.place - place }
    func advanced(by count: Int) -> Slot { Slot(place + count) }
}

/// The tables that have places, as names for `Slot`.
enum Tables {
    enum Activities {}
    enum Cards {}
    enum Devices {}
    enum Surfaces {}
    enum Timelines {}
}

typealias ActivitySlot = Slot<Tables.Activities>
/// A destination's place: that of a card, or of a broadcast channel that carries an activity.
typealias CardSlot = Slot<Tables.Cards>
/// The place of a device or of a broadcast channel.
typealias DeviceSlot = Slot<Tables.Devices>
/// The place of the widgets of a device, or of a control.
typealias SurfaceSlot = Slot<Tables.Surfaces>
typealias TimelineSlot = Slot<Tables.Timelines>
