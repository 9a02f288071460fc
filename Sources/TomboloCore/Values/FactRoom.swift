/// How many bytes of facts the log keeps, and for how long: the space that its tenants share.
package struct FactRoom: Hashable, Sendable {
    package var bytes: Int64
    package var age: Span

    package init(bytes: Int64, age: Span) {
        self.bytes = bytes
        self.age = age
    }

    /// The share of one byte in the time in which the log fills up.
    var cost: Span { Span(nanoseconds: age.nanoseconds / max(1, bytes)) }

    /// The facts of so much time may come at once: at most a quarter of a day.
    var burst: Span { min(.hours(6), Span(nanoseconds: age.nanoseconds / 4)) }
}
