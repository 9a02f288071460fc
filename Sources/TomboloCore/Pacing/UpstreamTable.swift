/// All upstreams by their numbers: one for each configured app.
struct UpstreamTable: Sendable {
    private var lanes: [Lane]

    init(count: Int) { lanes = (0..<count).map { _ in Lane() } }

    /// In the order of their numbers.
    var numbers: some Collection<LaneNumber> {
        lanes.indices.lazy.map { LaneNumber(Int32($0)) }
    }

    func holds(_ number: LaneNumber) -> Bool { lanes.indices.contains(Int(number.rawValue)) }

    subscript(number: LaneNumber) -> Lane {
        _read { yield lanes[Int(number.rawValue)] }
        _modify { yield &lanes[Int(number.rawValue)] }
    }
}
