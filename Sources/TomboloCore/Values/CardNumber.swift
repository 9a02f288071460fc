/// Incarnation and renewal in 8 bytes. Numbers above 2³¹−1 are clamped.
struct CardNumber: Hashable, Sendable {
    private let narrowIncarnation: Int32
    private let narrowRenewal: Int32

    init(incarnation: Int64, renewal: Int64) {
        narrowIncarnation = Int32(clamping: incarnation)
        narrowRenewal = Int32(clamping: renewal)
    }

    var incarnation: Int64 { Int64(narrowIncarnation) }
    var renewal: Int64 { Int64(narrowRenewal) }

    /// The card's number in facts: both in one. It is the same however busy other tenants are,
    /// which the number of a destination is not.
    var inFacts: Int64 { incarnation * 100_000 + renewal }
}
