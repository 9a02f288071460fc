package import TomboloCore
import TomboloEventLog
import TomboloLoop

// The relay's own clock, which is stored with batches.

extension Relay {
    static let clockLost =
        "the last reading of the clock cannot be read and is set aside: budgets go on by the "
        + "machine's clock"

    /// Adds the clock's reading to a batch, so that the next relay process continues from it.
    ///
    /// - Parameter isLast: true for the last batch of a relay that stops.
    func withClock(_ batch: AppendBatch, isLast: Bool = false) -> AppendBatch {
        var batch = batch
        batch.lead = clock.lead
        var reading = clock.reading(monotonic: loop.now.nanoseconds, boot: wallClock.boot)
        reading.isLast = isLast
        if !isLast, let last = clockWritten, !last.isLast, last.lead == reading.lead,
            reading.steady - last.steady < RelayClock.readingInterval
        {
            return batch
        }
        clockWritten = reading
        batch.records.append(reading.record)
        return batch
    }

    /// Checks the machine's clock. Returns true if the core must get the new values. Reports when
    /// the clock falls behind the timestamps on cards, and when this ends.
    func followClock() -> Bool {
        let (before, wasFarBehind) = (clock.lead, clock.isFarBehind)
        let wall = wallClock.now()
        let changes = clock.follow(wall: wall, monotonic: loop.now.nanoseconds)
        if clock.lead < before || clock.isToBeCompared { compareClock(wall) }
        reportJump(Span(nanoseconds: clock.lead.nanoseconds &- before.nanoseconds))
        if clock.isSetBack != wasSetBack {
            wasSetBack = clock.isSetBack
            report(
                wasSetBack
                    ? OperatorNote(
                        .warning, .clockBehind, "the \(RelayClock.trouble(behind: clock.behind))",
                        remedy: "timedatectl")
                    : OperatorNote(
                        .info, .clockRight,
                        "no card has timestamps ahead of the machine's clock any more"),
                of: .main)
        }
        return changes || clock.isFarBehind != wasFarBehind
    }

    /// The clock's values as an input for the core.
    var clockInput: Input { .clock(lead: clock.lead, isBehind: clock.isFarBehind) }

    /// Reports if the wall clock has advanced less than the boot clock since the last relay
    /// process. Retention is measured on the boot clock.
    func reportLag(_ step: Span) {
        let lag = Span(nanoseconds: 0 &- step.nanoseconds)
        guard lag > RelayClock.leadMax else { return }
        report(
            OperatorNote(
                .warning, .clockBehind,
                "since the last run the machine's clock has come \(lag.roundedText) less far "
                    + "than its boot clock: it was set back, or the machine was moved. History, "
                    + "idempotency keys and budgets count by the boot clock",
                remedy: "timedatectl"), of: .main)
    }

    /// Reports a step forward that is larger than a time server's correction.
    func reportJump(_ step: Span) {
        guard step > RelayClock.leadMax else { return }
        report(
            OperatorNote(
                .warning, .clockAhead,
                "the machine's clock was set ahead by \(step.roundedText), and timestamps follow it: if "
                    + "that is wrong, set the clock right, and the relay follows within a minute",
                remedy: "timedatectl"))
    }

    /// Text about the clock for `/readyz`, rounded to minutes; nil if the clock is right.
    package var clockTrouble: String? {
        guard clock.isSetBack else { return nil }
        return "clock \(clock.behind.rounded(to: .minutes(1)).roundedText) behind"
    }

    /// Compares the machine's clock with the newest timestamp on a card.
    func compareClock(_ wall: Instant) {
        clock.compare(with: core.newestTimestamp(at: wall), wall: wall)
    }

    /// How far the machine's clock is behind the timestamps on phones; zero if it is not behind.
    package var clockBehind: Span { clock.behind }

    /// The last clock reading is durable, so timestamps may advance as far as it allows.
    func noteStoredClock() {
        guard let clockWritten else { return }
        core.tellsThrough = clockWritten.toldThrough
    }
}
