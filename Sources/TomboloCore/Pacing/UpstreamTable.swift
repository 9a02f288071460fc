/// All upstreams by their numbers: one for each configured app.
struct UpstreamTable: Sendable {
    private var upstreams: [Upstream]
    /// The upstreams whose free places are given out next.
    private var woken = TurnQueue<UpstreamNumber>()

    init(count: Int) { upstreams = (0..<count).map { _ in Upstream() } }

    /// The numbers of all upstreams, ascending.
    var numbers: some Collection<UpstreamNumber> {
        upstreams.indices.lazy.map { UpstreamNumber(Int32($0)) }
    }

    func holds(_ number: UpstreamNumber) -> Bool {
        upstreams.indices.contains(Int(number.rawValue))
    }

    subscript(number: UpstreamNumber) -> Upstream {
        _read { yield upstreams[Int(number.rawValue)] }
        _modify { yield &upstreams[Int(number.rawValue)] }
    }

    // MARK: Waking

    /// The upstream may have free places: waiting pushes get them, in a part of this step or of a
    /// later one.
    mutating func wake(_ number: UpstreamNumber) {
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
    var firstWoken: UpstreamNumber? { woken.first }

    /// The first upstream has given out all the places it can.
    mutating func popWoken() { _ = woken.popFirst() }
}
