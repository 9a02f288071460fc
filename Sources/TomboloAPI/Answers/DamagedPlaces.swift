package import TomboloJSON

/// Rows of the log that cannot be read, so that an answer lacks them.
package struct DamagedPlaces: Hashable, Sendable {
    /// `command` or `fact`.
    package let kind: String
    /// The rows' places among the tenant's commands, or among its facts.
    package let places: ClosedRange<Int64>

    /// - Parameter kind: `command` or `fact`.
    package init(kind: String, _ places: ClosedRange<Int64>) {
        (self.kind, self.places) = (kind, places)
    }

    /// One sentence about the damage, and what to do.
    package var detail: String {
        let name = kind == "fact" ? "fact" : "event"
        let (first, last) = (places.lowerBound, places.upperBound)
        let what =
            first == last
            ? "The row of \(name) \(first) is damaged"
            : "Rows of the \(name)s \(first) to \(last) are damaged"
        return
            "\(what) and left out. tombolo log verify --data DIR lists what is damaged; a backup "
            + "may have it whole."
    }

    /// Writes the members that describe the damage.
    package func writeMembers(to writer: inout JSONWriter) {
        writer.member("kind", kind)
        writer.member("first", places.lowerBound)
        writer.member("last", places.upperBound)
        writer.member("detail", detail)
    }
}
