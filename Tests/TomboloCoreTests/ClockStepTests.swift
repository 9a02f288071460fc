import CoreRig
import Testing
import TomboloCore
import TomboloJSON

/// A clock that was wrong by years and is set right: what has an age keeps it.
@Suite struct ClockStepTests {
    private static let years = Span.hours(24 * 3_650)

    /// The clock was years behind until now.
    private func setRight(_ rig: inout Rig) { rig.step(.clock(lead: Self.years)) }

    @Test func `a key stands for its event also when the clock was set forward`() {
        var rig = IntakeTests.started()
        func send() {
            rig.command(.update, #"{"state":{"lap":1}}"#) {
                $0.idempotency = IdempotencyKey(key: "order-1", bodyDigest: 1)
            }
        }
        send()
        setRight(&rig)
        rig.update(lap: 2)
        send()
        #expect(rig.lastReplay == 2)
    }

    @Test func `an end waits for its token also when the clock was set forward`() {
        var rig = Rig.phone(.standard)
        rig.command(.start, #"{"type":"Runner","audience":{"device":"phone"},"state":{}}"#)
        rig.advance(to: 10)
        rig.command(.end, "{}")
        setRight(&rig)
        rig.advance(to: 20)
        rig.token("activity:cat", "bb")
        #expect(rig.line() == "0:S10{} 20:E10{}")
    }

    @Test func `an ended activity stays for its day also when the clock was set forward`() {
        var rig = IntakeTests.started()
        rig.command(.end, "{}")
        rig.advance(to: 60)
        setRight(&rig)
        rig.advance(to: 23 * 3_600)
        #expect(rig.view()?.status == .ended)
        rig.advance(to: 25 * 3_600)
        #expect(rig.view() == nil)
    }

    @Test func `it stays for its day also where the relay began again by the right clock`() {
        var rig = IntakeTests.started()
        rig.command(.end, "{}")
        rig.advance(to: 60)
        var leads = LeadHistory()
        leads.note(.zero, at: Rig.epoch)
        var recovery = rig.recovery()
        (recovery.lead, recovery.leads) = (Self.years, leads)
        #expect(rig.recover(recovery) == [])
        rig.advance(to: 23 * 3_600)
        #expect(rig.view()?.status == .ended)
        rig.advance(to: 25 * 3_600)
        #expect(rig.view() == nil)
    }

    // MARK: Leads

    @Test func `a moment is told by the lead of its time`() {
        let start = Instant(seconds: 1_000_000)
        var leads = LeadHistory()
        leads.note(.zero, at: start)
        leads.note(Self.years, at: start + .hours(1))
        leads.note(.seconds(24 * 3_650 * 3_600 + 30), at: start + .hours(2))
        // Somebody sets it back.
        leads.note(.zero, at: start + .hours(3))
        let now = start + .hours(4)
        func steady(_ wall: Instant) -> Instant { leads.steady(wall, now: now) }
        #expect(steady(start) == start)
        #expect(steady(start - .hours(9)) == start - .hours(9))
        #expect(steady(start + .minutes(30)) == start + .minutes(30))
        #expect(steady(start + .minutes(90) + Self.years) == start + .minutes(90))
        #expect(steady(start + .minutes(200)) == start + .minutes(200))
        #expect(steady(now + .hours(1)) == now + .hours(1), "no clock has shown it")
    }

    @Test func `a moment that a dropped lead showed is before the first that is kept`() {
        let start = Instant(seconds: 1_000_000)
        var leads = LeadHistory()
        leads.note(.hours(-1), at: start)
        for step in 1...LeadHistory.entriesMax {
            leads.note(.hours(step % 2 == 0 ? 0 : 48), at: start + .minutes(Int64(step) * 2))
        }
        let now = start + .minutes(40)
        #expect(leads.steady(start - .hours(1), now: now) == start + .minutes(2))
        #expect(leads.steady(now + .hours(1), now: now) == now + .hours(1), "no clock showed it")
    }

    @Test func `the leads are in the record of the clock`() throws {
        var first = RelayClock(wall: Instant(seconds: 1_000_000), monotonic: 0, boot: "a")
        let reading = first.reading(monotonic: 0, boot: "a")
        var second = RelayClock(
            wall: Instant(seconds: 9_000_000), monotonic: 0, boot: "b", after: reading)
        let last = second.reading(monotonic: 5_000_000_000, boot: "b")
        let read = try #require(RelayClock.Reading(record: last.record))
        #expect(read == last)
        let third = RelayClock(
            wall: Instant(seconds: 99_000_000), monotonic: 0, boot: "c", after: read)
        let told = third.leads.steady(Instant(seconds: 9_000_002), now: Instant(seconds: 1_000_100))
        #expect(told == Instant(seconds: 1_000_002))
    }

    @Test func `only so many leads are kept`() throws {
        var clock = RelayClock(wall: Instant(seconds: 1_000_000), monotonic: 0, boot: "boot 0")
        for boot in 1...100 {
            clock = RelayClock(
                wall: Instant(seconds: 1_000_000 + Int64(boot) * 3_600), monotonic: 0,
                boot: "boot \(boot)",
                after: clock.reading(monotonic: 0, boot: "boot \(boot - 1)"))
        }
        let record = clock.reading(monotonic: 0, boot: "boot 100").record
        let list = JSON(unchecked: try #require(record.value)).document.root["leads"]
        #expect(list?.count == 2 * LeadHistory.entriesMax)
    }
}
