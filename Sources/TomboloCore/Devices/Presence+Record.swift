import TomboloJSON

// A lease outlives the relay: an app that is in front is no news after a restart.

extension Presence {
    /// The current value that is kept of a device; nil deletes it: an app that is gone needs none.
    ///
    /// - Parameter wall: the wall time of a moment of steady time.
    func record(ofDevice number: Int64, wall: (Instant) -> Instant) -> Record {
        guard isLease else { return Record(space: .presence, number: number, value: nil) }
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("state", state.name)
        writer.member("heard", wall(heardAt).nanoseconds)
        writer.member("observed", observedAt.nanoseconds)
        writer.endObject()
        return Record(space: .presence, number: number, value: writer.bytes)
    }

    /// Nil where the record cannot be read, or where its lease is over.
    ///
    /// - Parameter steady: the steady time of a moment of wall time.
    init?(_ record: Record, steady: (Instant) -> Instant, now: Instant) {
        guard let parts = Self.parts(of: record) else { return nil }
        self.init(
            parts.state, heardAt: min(steady(parts.heard), now), observedAt: parts.observed)
        lapse(now: now)
        guard isLease else { return nil }
    }

    /// What a record says; nil where it cannot be read.
    static func parts(of record: Record) -> (state: State, heard: Instant, observed: Instant)? {
        guard let view = record.value.flatMap({ try? JSONDocument($0) })?.root,  // nil says it
            let state = view["state"]?.string.flatMap(State.lease(named:)),
            let heard = view["heard"]?.storedInstant, let observed = view["observed"]?.storedInstant
        else { return nil }
        return (state, heard, observed)
    }
}

extension Presence.State {
    /// One that is a lease.
    fileprivate static func lease(named name: String) -> Self? {
        [.active, .covered, .returning].first { $0.name == name }
    }
}
