import TomboloCore
import TomboloEventLog
import TomboloLoop

// The relay's clock goes with the batches.

extension Relay {
    static let clockLost =
        "the last reading of the clock cannot be read and is set aside: budgets go on by the "
        + "machine's clock"

    /// A batch carries the clock, so that the next relay goes on with it.
    func withClock(_ batch: PendingBatch) -> AppendBatch {
        var batch = AppendBatch(batch)
        let reading = clock.reading(monotonic: loop.now.nanoseconds, boot: wallClock.boot)
        if let last = clockWritten, last.lead == reading.lead,
            reading.steady - last.steady < RelayClock.readingInterval
        {
            return batch
        }
        clockWritten = reading
        batch.records.append(reading.record)
        return batch
    }

    /// The last reading is durable: timestamps may go on as far as it allows.
    func noteStoredClock() {
        guard let clockWritten else { return }
        core.tellsThrough = clockWritten.toldThrough
    }
}
