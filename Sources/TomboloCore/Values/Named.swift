/// An enum whose raw value is its name in answers, rows of the log and metrics.
///
/// Two cases are compared by their byte. Swift compares the raw values of such an enum, which are
/// strings here, and the pacer compares cases on each step of an event.
package protocol Named: RawRepresentable<String>, Hashable {}

extension Named {
    package var name: String { rawValue }

    /// Finds the case with this name. Returns nil for other names.
    package init?(name: String) { self.init(rawValue: name) }

    /// True for one and the same case.
    package static func == (first: Self, second: Self) -> Bool { first.byte == second.byte }

    /// True for two different cases.
    package static func != (first: Self, second: Self) -> Bool { first.byte != second.byte }

    package func hash(into hasher: inout Hasher) { hasher.combine(byte) }

    /// An enum with a raw value has no payload: with 2 to 256 cases it is one byte. Traps else.
    private var byte: UInt8 { unsafeBitCast(self, to: UInt8.self) }
}
