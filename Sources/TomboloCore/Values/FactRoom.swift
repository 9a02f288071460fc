/// How many bytes of facts the log keeps, and for how long: what its tenants share.
package struct FactRoom: Hashable, Sendable {
    package var bytes: Int64
    package var age: Span

    package init(bytes: Int64, age: Span) {
        self.bytes = bytes
        self.age = age
    }

    /// What one byte takes of the time in which the log fills up.
    var cost: Span { Span(nanoseconds: age.nanoseconds / max(1, bytes)) }

    /// So much time's facts may come at once: a quarter of a day's.
    var burst: Span { min(.hours(6), Span(nanoseconds: age.nanoseconds / 4)) }
}
