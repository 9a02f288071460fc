import TomboloJSON

extension RelayClock {
    /// The number of the record that contains the clock reading.
    package static let recordNumber: Int64 = 1
}

extension RelayClock.Reading {
    /// The record that `init(record:)` reads.
    package var record: Record {
        Record(space: .relay, number: RelayClock.recordNumber) { writer in
            writer.member("boot", boot)
            writer.member("monotonic", monotonic)
            writer.member("steady", steady.nanoseconds)
            writer.member("lead", lead.nanoseconds)
            leads.write(to: &writer)
            if isLast { writer.member("last", Int64(1)) }
        }
    }

    /// True if the record is the clock reading.
    package static func isRecord(_ record: Record) -> Bool {
        record.space == .relay && record.number == RelayClock.recordNumber
    }

    /// Returns nil if the record is another one or cannot be read.
    package init?(record: Record) {
        guard Self.isRecord(record),
            let document = record.value.flatMap({ try? JSONDocument($0) }),  // nil reports damage
            let boot = document.root["boot"]?.string,
            let monotonic = document.root["monotonic"]?.storedSpan,
            let steady = document.root["steady"]?.storedInstant,
            let lead = document.root["lead"]?.integer,
            // The wall time at the reading must be in range, too.
            JSONView.storedInstants.contains(steady + Span(nanoseconds: lead))
        else { return nil }
        self.init(
            boot: boot, monotonic: monotonic.nanoseconds, steady: steady,
            lead: Span(nanoseconds: lead),
            leads: LeadHistory(
                stored: document.root["leads"], gaps: document.root["gaps"],
                lead: Span(nanoseconds: lead), at: steady),
            isLast: document.root["last"] != nil)
    }
}
