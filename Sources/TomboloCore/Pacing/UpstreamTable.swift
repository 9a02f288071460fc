/// All upstreams by number. Each configured app has one.
struct UpstreamTable: Sendable {
    private var upstreams: [Upstream]
    /// Upstreams whose free places are given to waiting pushes next.
    private var woken = TurnQueue<UpstreamNumber>()

    init(count: Int) { upstreams = (0..<count).map { _ in Upstream() } }

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

    /// Lets free places of an upstream be given to waiting pushes, in this step or a later one.
    mutating func wake(_ number: UpstreamNumber) {
        if !woken.contains(number) { woken.append(number) }
    }

    mutating func wakeWaiting() {
        for number in numbers where self[number].hasWaiting { wake(number) }
    }

    /// Lets all closed upstreams try now, because a change may have ended their trouble.
    mutating func tryNow(_ now: Instant) {
        for number in numbers where self[number].parkedUntil != nil {
            self[number].tryNow(now)
            wake(number)
        }
    }

    /// The upstream whose free places are given to waiting pushes now.
    var firstWoken: UpstreamNumber? { woken.first }

    /// Removes the first woken upstream: it has no free place or no waiting push any more.
    mutating func popWoken() { _ = woken.popFirst() }
}
