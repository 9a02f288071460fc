/// How many bytes of facts the log keeps, and for how long. All tenants share this.
package struct FactRoom: Hashable, Sendable {
    package var bytes: Int64
    package var age: Span

    package init(bytes: Int64, age: Span) {
        self.bytes = bytes
        self.age = age
    }

    /// The time in which one byte may be written, if `bytes` are used up evenly within `age`.
    var cost: Span { Span(nanoseconds: age.nanoseconds / max(1, bytes)) }

    /// The bytes that are allowed in this time may also be written all at once.
    var burst: Span { min(.hours(6), Span(nanoseconds: age.nanoseconds / 4)) }
}
