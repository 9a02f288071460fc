import CoreRig
import Testing

@testable import TomboloCore

/// Reloads that a pause holds: they cost nothing, and their resume holds nobody up.
@Suite struct PausedReloadTests {
    /// Many devices with widgets, without the requests that make them.
    private static func rig(devices count: Int) -> Rig {
        var rig = Rig { $0.limits.checkpointFlush = .seconds(600) }
        for index in 0..<count {
            var device = Device(
                key: DeviceKey(tenant: Rig.tenant, id: Identifier("d\(index)")!),
                number: rig.core.devices.takeNumber(), registration: DeviceRegistration())
            device.tokens[.widget] = Device.Token(
                value: PushToken(String(0x1000_0000 + index, radix: 16)), registeredAt: Rig.epoch,
                observedAt: Rig.epoch, isOnRecord: true)
            let slot = rig.core.devices.insert(device)
            rig.core.devices.register(slot, device.key)
        }
        return rig
    }

    /// Steps while something is due, and says what each spent and pushed.
    private static func settle(_ rig: inout Rig) -> [(work: StepBudget.Part, pushes: Int)] {
        var steps: [(StepBudget.Part, Int)] = []
        while let wake = rig.core.nextWake, wake <= rig.now, steps.count < 10_000 {
            var effects = Effects()
            rig.core.step(.tick, now: rig.now, effects: &effects)
            steps.append((effects.budget.due, effects.pushes.count))
            while rig.commit() {}
            rig.now = rig.now + Span(nanoseconds: 1)
        }
        return steps
    }

    @Test func `paused widgets cost nothing, and their resume goes in pieces`() {
        let all = 100_000
        var rig = Self.rig(devices: all)
        let pause = rig.pause(#"{"all":true}"#)
        for slot in rig.core.devices.indices {
            rig.core.wantReload(.widget, of: slot, now: rig.now)
        }
        _ = Self.settle(&rig)
        var wakes = 0
        let end = rig.now + .minutes(1)
        while let wake = rig.core.nextWake, wake <= end, wakes < 100 {
            rig.now = max(rig.now, wake)
            var effects = Effects()
            rig.core.step(.tick, now: rig.now, effects: &effects)
            while rig.commit() {}
            wakes += 1
        }
        #expect(wakes == 0)
        #expect(rig.pushes.isEmpty && rig.core.surfaces.allSatisfy { $0.phase == .wanted })

        rig.verdict = { _ in nil }
        rig.core.setCapacityForTests(all)
        rig.resume(pause)
        let steps = Self.settle(&rig)
        #expect(steps.count < 10_000)
        // The last examination may grant several wishes.
        #expect(steps.allSatisfy { $0.work.used < 2 * $0.work.units })
        #expect(steps.allSatisfy { $0.pushes <= Core.pushesPerTurnMax })
        let sent = rig.pushes.count + steps.reduce(0) { $0 + $1.pushes }
        #expect(sent == all, "each goes once")
    }

    @Test func `a reload that is due while it is paused goes with the resume`() {
        var rig = Self.rig(devices: 1)
        let pause = rig.pause(#"{"all":true}"#)
        rig.reload(#"{"device":"d0"}"#)
        rig.advance(to: 30)
        #expect(rig.pushes.isEmpty)
        let alerts = rig.pause(#"{"all":true,"alerts_only":true}"#)
        rig.resume(alerts)
        rig.advance(to: 40)
        #expect(rig.pushes.isEmpty, "another pause holds it")
        rig.resume(pause)
        rig.advance(to: 41)
        #expect(rig.pushes.map(\.at) == [.seconds(40)])
    }
}
