import TomboloCore
import TomboloJSON

/// Rows that are not in the log any more: it has deleted its oldest ones.
package struct RowsLeftOut: Hashable, Sendable {
    /// `command` or `fact`.
    package let kind: String
    package let count: Int64
    /// The place of the last of them, among those of its kind and tenant.
    package let last: Int64

    /// Rows behind the place `first`, up to and with that at `last`.
    package init(kind: String, after first: Int64, through last: Int64) {
        (self.kind, count, self.last) = (kind, last - first, last)
    }

    func writeMembers(to writer: inout JSONWriter) {
        writer.member("kind", "left_out")
        writer.member("of", kind)
        writer.member("count", count)
    }

    /// The same for facts that were never written: the history had no room for them.
    static func write(_ fact: RecordedFact, to writer: inout JSONWriter) {
        // A damaged body tells no numbers.
        let body = try? JSONDocument(fact.fact.body)
        let counts = body?.root["left_out"].map { Array($0.members) } ?? []
        writer.member("kind", "left_out")
        writer.member("of", "fact")
        writer.member("count", counts.reduce(Int64(0)) { $0 + ($1.value.integer ?? 0) })
        writer.member("recorded_at", fact.fact.recordedAt.rfc3339)
        writer.optional("from", body?.root["from"]?.string)
        writer.name("facts")
        writer.beginObject()
        for entry in counts { writer.member(entry.name, entry.value.integer ?? 0) }
        writer.endObject()
    }
}
