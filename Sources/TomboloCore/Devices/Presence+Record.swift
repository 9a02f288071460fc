import TomboloJSON

// A presence lease survives a restart of the relay, because the restart does not change the app.

extension Presence {
    /// The record of a device's presence. If the presence is no lease, the record deletes the
    /// stored one.
    ///
    /// - Parameter wall: converts monotonic time to wall time.
    func record(ofDevice number: Int64, wall: (Instant) -> Instant) -> Record {
        guard isLease else { return Record(space: .presence, number: number, value: nil) }
        return Record(space: .presence, number: number) { writer in
            writer.member("state", state.name)
            writer.member("heard", wall(heardAt).nanoseconds)
            writer.member("observed", observedAt.nanoseconds)
        }
    }

    /// Returns nil if the record cannot be read or its lease has expired.
    ///
    /// - Parameter steady: converts wall time to monotonic time.
    init?(_ record: Record, steady: (Instant) -> Instant, now: Instant) {
        guard let parts = Self.parts(of: record) else { return nil }
        self.init(
            parts.state, heardAt: min(steady(parts.heard), now), observedAt: parts.observed)
        lapse(now: now)
        guard isLease else { return nil }
    }

    /// The values in a record; nil if the record cannot be read. The device's own time is only
    /// compared, and earlier relays took it from any year.
    static func parts(of record: Record) -> (state: State, heard: Instant, observed: Instant)? {
        guard let view = record.value.flatMap({ try? JSONDocument($0) })?.root,  // nil is handled
            let state = view["state"]?.string.flatMap(State.lease(named:)),
            let heard = view["heard"]?.storedInstant, let observed = view["observed"]?.integer
        else { return nil }
        return (state, heard, Instant(nanoseconds: observed))
    }
}

extension Presence.State {
    /// The state with this name; nil if it is not a state with a lease.
    fileprivate static func lease(named name: String) -> Self? {
        [.active, .covered, .returning].first { $0.name == name }
    }
}
