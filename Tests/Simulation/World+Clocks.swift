import TestSupport
import TomboloCore
import TomboloLoop
import TomboloRelay

// Clocks that are wrong by hours or years: the machine's until somebody sets it right, phones' for
// a while.

extension World {
    /// The machine begins with the time at which it was made, or ahead.
    func beginWithWrongClock() {
        guard faults.contains(FaultSet(.wrongClock)) else { return }
        let minutes = Int64(dice.pick(.clocks, [-1_440, -129_600, -5_256_000, 30, 120, 576_000]))
        clock.step(to: .minutes(minutes))
        note(.wallStep, who: -1, minutes * 60)
        let seconds = Int(plan.chaos.components.seconds)
        after(.seconds(dice.roll(.clocks, 1...max(2, seconds)))) { [self] in setClockRight() }
    }

    private func setClockRight() {
        guard !isHealed else { return }
        clock.step(to: .zero)
        note(.wallStep, who: -1, 0)
        // One that begins may have looked at the clock before or after: what it leaves on record
        // may be of either.
        if life?.isReady == false {
            let before = start.offset
            ageByReboot()
            start.offset = min(start.offset, before)
        }
        // Half of them start the relay again, before or after it has followed.
        guard dice.happens(.clocks, oneIn: 2) else { return }
        after(dice.time(.clocks, 1...120_000)) { [self] in
            if !isHealed { crash() }
        }
    }

    /// Whether a phone drops an update for its time.
    func isFarAhead(_ timestamp: Int64) -> Bool { isFarAhead(Instant(seconds: timestamp)) }

    /// A relay whose clock is right sends nothing that a phone drops for its time. If no clock is
    /// ever set, kills do not move a card's timestamps ahead of it either.
    func clockFaults(_ sent: Outbox.Sent, _ life: Life) -> [(Promise, String)] {
        guard let wall = life.relay?.assumeIsolated({ $0.wallNow() }) else { return [] }
        if sent.isFarAhead, !isFarAhead(wall) {
            return [(.timestamp, "\(sent.timestamp) by a clock that is right: a phone drops it")]
        }
        let ahead = sent.timestamp - wall.seconds
        guard ahead > Self.leadOfKills, faults.isDisjoint(with: .clockwork) else { return [] }
        return [(.timestamp, "\(ahead) s ahead of a clock that was never set")]
    }

    /// So many seconds ahead a timestamp may be after a kill: of pacing rule 6, and those of a push
    /// that went when the relay had no time to record it.
    private static let leadOfKills = PacingState.timestampLeadMax + 3

    private func isFarAhead(_ instant: Instant) -> Bool { instant > clock.trueNow() + .hours(8) }

    /// Of a phone whose clock is ahead, by how much.
    func troublePhoneClock(_ phone: Phone) {
        // What it saw by the wrong clock counts from its arrival: nothing newer may come before.
        guard strikes(.wrongPhones, .clocks, oneIn: 2), phone.uploads.isEmpty else { return }
        phone.clockAhead =
            phone.clockAhead == .zero
            ? .hours(24 * Int64(dice.pick(.clocks, [1, 365, 3_650]))) : .zero
        note(.wallStep, who: phone.number, phone.clockAhead.nanoseconds / 1_000_000_000)
    }

    /// Once all is calm the relay's time is the machine's.
    func checkClock(_ relay: Relay) async {
        // It looks when it has something to do, and follows what it saw a minute before.
        for _ in 1...2 {
            _ = await relay.isReady
            await pause(.nanoseconds(RelayClock.stepHeld.nanoseconds))
        }
        _ = await relay.isReady
        await pause(.seconds(3))
        guard life?.relay === relay else { return }
        let behind = clock.now() - (await relay.wallNow())
        guard behind.nanoseconds.magnitude > RelayClock.leadMax.nanoseconds.magnitude else {
            return
        }
        violated(.clock, "the relay is \(behind.text) behind the machine's clock")
    }
}
