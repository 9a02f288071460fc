import TomboloCore
import TomboloJSON

/// Old rows that the log has deleted.
package struct RowsLeftOut: Hashable, Sendable {
    /// `command` or `fact`.
    package let kind: String
    package let count: Int64
    /// The place of the last of these rows among the tenant's commands or facts.
    package let last: Int64

    /// The rows after place `first`, up to and including place `last`.
    package init(kind: String, after first: Int64, through last: Int64) {
        (self.kind, count, self.last) = (kind, last - first, last)
    }

    func writeMembers(to writer: inout JSONWriter) {
        writer.member("kind", "left_out")
        writer.member("of", kind)
        writer.member("count", count)
    }

    /// Writes a `history.thinned` fact: how many facts were not stored, in all and for each kind,
    /// because the tenant had used up its part of the history.
    static func write(_ fact: RecordedFact, to writer: inout JSONWriter) {
        // If the body is damaged, the counts are unknown.
        let body = try? JSONDocument(fact.fact.body)
        let counts = body?.root["left_out"].map { Array($0.members) } ?? []
        writer.member("kind", "left_out")
        writer.member("of", "fact")
        writer.member("count", counts.reduce(Int64(0)) { $0 + ($1.value.integer ?? 0) })
        writer.member("recorded_at", fact.fact.recordedAt.rfc3339)
        writer.optional("from", body?.root["from"]?.string)
        writer.object("facts") { writer in
            for entry in counts { writer.member(entry.name, entry.value.integer ?? 0) }
        }
    }
}
