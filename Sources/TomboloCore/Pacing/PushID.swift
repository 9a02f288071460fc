/// A destination or surface that waits for its turn at an upstream, or has a push in flight there.
enum UpstreamTurn: Hashable, Sendable {
    case card(CardSlot)
    case surface(SurfaceSlot)
}

/// Identifies one attempt to push within one process. It contains the destination or surface and
/// the upstream, so that an outcome needs no table: bit 63 is the table, bits 32 to 62 are the
/// slot, bits 24 to 31 the upstream, and the rest is a counter.
package struct PushID: Hashable, Sendable {
    package let rawValue: UInt64
    package init(_ rawValue: UInt64) { self.rawValue = rawValue }

    private static let surfaceBit: UInt64 = 1 << 63

    /// - Parameter count: differs for each push. Its lowest 24 bits are used.
    init(_ turn: UpstreamTurn, at upstream: UpstreamNumber, count: UInt64) {
        let table: UInt64
        let place: Int
        switch turn {
        case .card(let slot): (table, place) = (0, slot.place)
        case .surface(let slot): (table, place) = (Self.surfaceBit, slot.place)
        }
        rawValue =
            table | UInt64(place) << 32 | UInt64(UInt8(upstream.rawValue)) << 24 | count & 0xff_ffff
    }

    var turn: UpstreamTurn {
        let place = Int(rawValue & ~Self.surfaceBit) >> 32
        return rawValue & Self.surfaceBit == 0 ? .card(Slot(place)) : .surface(Slot(place))
    }

    var upstream: UpstreamNumber { UpstreamNumber(Int32(rawValue >> 24 & 0xff)) }
}
