/// All upstreams by their numbers: one for each configured app.
struct UpstreamTable: Sendable {
    private var lanes: [Lane]
    /// The upstreams whose free places are given out next.
    private var woken = TurnQueue<LaneNumber>()

    init(count: Int) { lanes = (0..<count).map { _ in Lane() } }

    /// The numbers of all upstreams, ascending.
    var numbers: some Collection<LaneNumber> {
        lanes.indices.lazy.map { LaneNumber(Int32($0)) }
    }

    func holds(_ number: LaneNumber) -> Bool { lanes.indices.contains(Int(number.rawValue)) }

    subscript(number: LaneNumber) -> Lane {
        _read { yield lanes[Int(number.rawValue)] }
        _modify { yield &lanes[Int(number.rawValue)] }
    }

    // MARK: Waking

    /// The upstream may have free places: waiting pushes get them, in a part of this step or of a
    /// later one.
    mutating func wake(_ number: LaneNumber) {
        if !woken.contains(number) { woken.append(number) }
    }

    /// Wakes the upstreams for which something waits.
    mutating func wakeWaiting() {
        for number in numbers where self[number].hasWaiting { wake(number) }
    }

    /// Closed upstreams try now: a change may have solved the trouble of all.
    mutating func tryNow(_ now: Instant) {
        for number in numbers where self[number].parkedUntil != nil {
            self[number].tryNow(now)
            wake(number)
        }
    }

    /// The upstream whose places are given out now.
    var firstWoken: LaneNumber? { woken.first }

    /// The first upstream has given out all the places it can.
    mutating func popWoken() { _ = woken.popFirst() }
}
