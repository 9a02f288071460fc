import CoreRig
import Testing

@testable import TomboloCore

/// The laws of the whole core: each is broken once, and is the only one that then does not hold.
@Suite struct CoreLawsTests {
    /// A phone with a live card that waits for nothing, and a tablet.
    private static func rig() -> Rig {
        var rig = Rig.running()
        rig.device("tablet")
        rig.advance(to: 60)
        rig.keepsLaws = false
        return rig
    }

    private static let (card, phone, tablet) = (CardSlot(0), DeviceSlot(0), DeviceSlot(1))

    /// Another card of the phone's activity.
    private static func add(
        to core: inout Core, renewal: Int64, _ change: (inout Destination) -> Void = { _ in }
    ) {
        let first = core.destinations[card]
        var next = Destination(
            number: core.destinations.takeNumber(), activity: first.activity, device: first.device,
            incarnation: first.incarnation, renewal: renewal, upstream: first.upstream,
            ledger: Ledger(since: 1), phaseSince: first.phaseSince)
        next.acknowledged = first.acknowledged
        next[.checkpointIsDirty] = false
        change(&next)
        _ = core.insert(next)
    }

    private static func doze(_ core: inout Core, _ reason: WaitReason, until: Instant? = nil) {
        core.destinations[card].waiting = .deferred(until: until, reason)
        core.destinations.deadlines.set(card, at: nil)
    }

    /// Breaks a law by hand. The switch makes sure that there is a way for each.
    private static func breaks(_ law: CoreLaws.Law, _ core: inout Core, now: Instant) {
        switch law {
        case .oneName: add(to: &core, renewal: 0)
        case .oneHolder:
            let name = TokenName.start(type: "Runner")
            core.devices[known: tablet].tokens[name] = core.devices[phone]?.tokens[name]
        case .live: core.destinations[card].token = nil
        case .waiting:
            core.destinations[card].phase = .waiting
            core.destinations[card].cardSince = nil
        case .finished:
            core.destinations[card].phase = .ended
            core.destinations[card].reservation = .granted
            core.destinations[card][.keepsPlace] = true
        case .sleep: doze(&core, .bucket)
        case .bound:
            core.destinations[card].waiting = .deferred(until: now, .bucket)
            core.destinations.deadlines.set(card, at: now + .minutes(1))
        case .queue:
            core.upstreams[UpstreamNumber(0)].enqueue(.card(card), of: phone, must: false)
        case .version: core.destinations[card].alertsThrough = 99
        case .incarnation: core.destinations[card].become(incarnation: 2, renewal: 0)
        case .succession:
            add(to: &core, renewal: 1) {
                $0.token = PushToken("cc")
                $0.phase = .live
            }
        case .reservation: core.destinations[card].reservedAlert = 1
        case .budget: core.devices.budgets[phone].startsHeld = 1
        case .row: core.destinations[card][.checkpointIsDirty] = true
        case .arrow: core.destinations[card].phase = .starting
        case .day: core.destinations[card].pacing.lastSend = now + .hours(30)
        case .key:
            if let device = core.devices[phone] { _ = core.devices.insert(device) }
        }
    }

    @Test(arguments: CoreLaws.Law.allCases)
    func `a broken law is reported, and no other law`(_ law: CoreLaws.Law) {
        var rig = Self.rig()
        var laws = CoreLaws()
        #expect(laws.broken(in: rig.core, now: rig.now) == [])
        Self.breaks(law, &rig.core, now: rig.now)
        let found = laws.broken(in: rig.core, now: rig.now)
        #expect(found.count == 1 && found.allSatisfy { $0.hasSuffix(": " + law.rawValue) })
    }

    @Test func `a sentence names the phone, its card and the law`() {
        var rig = Self.rig()
        rig.core.destinations[Self.card].token = nil
        let name = "phone \(rig.core.reference(rig.core.destinations[Self.card]).text)"
        let expected = ["\(name): live without a token or a channel"]
        #expect(rig.core.brokenLaws(now: rig.now) == expected)
    }

    /// Other ways to break a law that has several parts.
    private static let others: [(CoreLaws.Law, @Sendable (inout Core, Instant) -> Void)] = [
        (.sleep, { core, _ in doze(&core, .paused) }),
        (.sleep, { core, _ in doze(&core, .reserving) }),
        (.sleep, { core, _ in core.destinations[card].reservation = .pending }),
        (
            .sleep,
            { core, _ in
                core.destinations[card].acknowledged = 0
                core.destinations.deadlines.set(card, at: nil)
            }
        ),
        (.bound, { core, now in doze(&core, .bucket, until: now) }),
        (.version, { core, _ in core.destinations[card].acknowledged = 99 }),
        (.reservation, { core, _ in core.destinations[card][.keepsPlace] = true }),
        (.reservation, { core, _ in core.destinations[card][.reservedStart] = true }),
        (
            .reservation,
            { core, _ in
                core.destinations[card].pacing.bucket = TokenBucket()
                core.destinations[card].pacing.holdsToken = true
            }
        ),
        (.budget, { core, _ in core.destinations[card][.holdsStartToken] = true }),
        (.budget, { core, _ in core.devices.budgets[phone].keptFor = card }),
        (.day, { core, now in core.destinations[card].phaseSince = now + .hours(30) }),
        (.day, { core, now in core.devices.deadlines.set(phone, at: now + .hours(25)) }),
    ]

    @Test(arguments: others.indices) func `each part of a law is checked`(_ index: Int) {
        let (law, breaks) = Self.others[index]
        var rig = Self.rig()
        breaks(&rig.core, rig.now)
        let found = rig.core.brokenLaws(now: rig.now)
        #expect(found.count == 1 && found.allSatisfy { $0.hasSuffix(": " + law.rawValue) })
    }

    @Test func `a finished card sends nothing but the repeat of its end`() {
        var rig = Self.rig()
        rig.verdict = { _ in nil }
        rig.update(lap: 1)
        #expect(rig.core.destinations[Self.card].inFlight != nil)
        rig.core.destinations[Self.card].phase = .ended
        let law = CoreLaws.Law.finished.rawValue
        #expect(rig.core.brokenLaws(now: rig.now).map { $0.hasSuffix(law) } == [true])
        rig.core.destinations[Self.card].inFlight?.event = .end
        #expect(rig.core.brokenLaws(now: rig.now) == [])
    }

    @Test func `a core that has recovered keeps the laws`() {
        var rig = Self.rig()
        rig.keepsLaws = true
        #expect(rig.crash(recoverAt: 90) == [])
        #expect(rig.core.brokenLaws(now: rig.now) == [])
    }
}
