import TomboloJSON

extension RelayClock {
    /// What the next relay needs to go on with this clock.
    package struct Reading: Hashable, Sendable {
        package var boot: String
        package var monotonic: Int64
        package var steady: Instant
        package var lead: Span

        /// While this is the reading on record no later time goes into a timestamp.
        package var toldThrough: Instant { steady + lead + RelayClock.reach }
    }

    /// A reading is written at most so often, but for a lead that has changed.
    package static let readingInterval = Span.seconds(1)

    /// Where the reading stands in the log.
    package static let recordNumber: Int64 = 1

    /// The clock as it stands.
    package mutating func reading(monotonic: Int64, boot: String) -> Reading {
        Reading(
            boot: boot, monotonic: monotonic, steady: steady(monotonic: monotonic), lead: lead)
    }
}

extension RelayClock.Reading {
    /// As it is stored; `init(record:)` reads it.
    package var record: Record {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("boot", boot)
        writer.member("monotonic", monotonic)
        writer.member("steady", steady.nanoseconds)
        writer.member("lead", lead.nanoseconds)
        writer.endObject()
        return Record(space: .relay, number: RelayClock.recordNumber, value: writer.bytes)
    }

    /// Nil where it is another record, or cannot be read.
    package init?(record: Record) {
        guard record.space == .relay, record.number == RelayClock.recordNumber,
            let document = record.value.flatMap({ try? JSONDocument($0) }),  // damage is the answer
            let boot = document.root["boot"]?.string,
            let monotonic = document.root["monotonic"]?.integer,
            let steady = document.root["steady"]?.integer,
            let lead = document.root["lead"]?.integer
        else { return nil }
        self.init(
            boot: boot, monotonic: monotonic, steady: Instant(nanoseconds: steady),
            lead: Span(nanoseconds: lead))
    }
}
