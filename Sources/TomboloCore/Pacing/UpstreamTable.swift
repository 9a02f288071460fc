/// All upstreams by their numbers: one for each configured app.
struct UpstreamTable: Sendable {
    private var lanes: [Lane]
    /// Those whose places are given out next.
    private var woken = TurnQueue<LaneNumber>()

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

    // MARK: Waking

    /// Places may be free in it: those that wait get them, in a piece of this step or of a later
    /// one.
    mutating func wake(_ number: LaneNumber) {
        if !woken.contains(number) { woken.append(number) }
    }

    /// Wakes those in which somebody waits.
    mutating func wakeWaiting() {
        for number in numbers where self[number].hasWaiting { wake(number) }
    }

    /// Those that are closed try now: something has changed that may be the cure of all.
    mutating func tryNow(_ now: Instant) {
        for number in numbers where self[number].parkedUntil != nil {
            self[number].tryNow(now)
            wake(number)
        }
    }

    /// The one whose places are given out now.
    var firstWoken: LaneNumber? { woken.first }

    /// It has given out all that it can.
    mutating func popWoken() { _ = woken.popFirst() }
}
