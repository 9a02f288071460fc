import TomboloCore
import TomboloLoop

/// The newest overviews of tenants with many cards.
///
/// To make an overview costs a look at each card, about half a microsecond, and an open console
/// asks once a second. So an overview of many cards is used again for so long that these looks
/// take about 1 ms of a second: 40 s with 100,000 cards. One of few cards is always made.
struct OverviewMemory {
    /// For each card an overview is used for this long.
    static let perCard = Duration.microseconds(400)
    /// An overview that would be used for less is always made: one of fewer than 2,500 cards.
    static let usedMin = Duration.seconds(1)

    struct Row {
        var overview: Overview
        var at: MonotonicInstant
        /// When it was made, by the relay's clock.
        var instant: Instant
    }

    private var rows: [TenantID: Row] = [:]
    /// How often all was forgotten.
    private(set) var generation = 0

    /// The overview of a tenant that may be used again; nil: another one is to be made.
    func row(of tenant: TenantID, cards: Int, now: MonotonicInstant) -> Row? {
        let used = Self.perCard * cards
        guard used >= Self.usedMin, let row = rows[tenant], now - row.at < used else { return nil }
        return row
    }

    /// Keeps an overview that was begun in this generation.
    mutating func remember(_ row: Row, of tenant: TenantID, cards: Int, begun: Int) {
        guard begun == generation else { return }
        rows[tenant] = Self.perCard * cards >= Self.usedMin ? row : nil
    }

    /// Forgets all, because an overview names activities and devices.
    mutating func forget() {
        rows = [:]
        generation += 1
    }
}
