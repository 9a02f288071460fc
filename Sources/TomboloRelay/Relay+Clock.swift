package import TomboloCore
import TomboloEventLog
import TomboloLoop

// The relay's clock goes with the batches.

extension Relay {
    static let clockLost =
        "the last reading of the clock cannot be read and is set aside: budgets go on by the "
        + "machine's clock"

    /// A batch carries the clock, so that the next relay goes on with it.
    func withClock(_ batch: AppendBatch) -> AppendBatch {
        var batch = batch
        batch.lead = clock.lead
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

    /// Looks at the machine's clock; answers whether the core has to know. A line says when it
    /// was set back too far to be followed, and when it has caught up.
    func followClock() -> Bool {
        let before = clock.lead
        let changes = clock.follow(wall: wallClock.now(), monotonic: loop.now.nanoseconds)
        reportJump(Span(nanoseconds: clock.lead.nanoseconds &- before.nanoseconds))
        if clock.isSetBack != wasSetBack {
            wasSetBack = clock.isSetBack
            report(
                wasSetBack
                    ? OperatorNote(.warning, .clockBehind, clockSetBack, remedy: "timedatectl")
                    : OperatorNote(
                        .info, .clockRight,
                        "the machine's clock has caught up with the timestamps that phones have"),
                of: .main)
            return true
        }
        return changes
    }

    /// The clock as the core takes it.
    var clockInput: Input { .clock(lead: clock.lead, isBehind: clock.isSetBack) }

    /// A line for a step ahead that is more than time servers correct by.
    func reportJump(_ step: Span) {
        guard step > RelayClock.leadMax else { return }
        let seconds = Span.seconds(step.nanoseconds / 1_000_000_000)
        report(
            OperatorNote(
                .warning, .clockAhead,
                "the machine's clock was set ahead by \(seconds.text), and timestamps follow it: where "
                    + "that was wrong, phones drop what comes after it is set back",
                remedy: "timedatectl"))
    }

    /// What `/readyz` says of the clock beside "ready"; nil where it is right. To the minute.
    package var clockTrouble: String? {
        guard clock.isSetBack else { return nil }
        let minutes = (clock.behind.nanoseconds + 30_000_000_000) / 60_000_000_000
        return "clock \(Span.minutes(minutes).text) behind"
    }

    var clockSetBack: String {
        "the machine's clock is \(clock.behind.text) behind the timestamps that phones have: set it "
            + "right, or restart the relay once it is right"
    }

    /// How far the machine's clock is behind the times that phones got; zero where it is not.
    package var clockBehind: Span { clock.behind }

    /// The last reading is durable: timestamps may go on as far as it allows.
    func noteStoredClock() {
        guard let clockWritten else { return }
        core.tellsThrough = clockWritten.toldThrough
    }
}
