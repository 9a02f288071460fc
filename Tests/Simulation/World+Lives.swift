import TestSupport
import TomboloCore
import TomboloEventLog
import TomboloLoop
import TomboloRelay

// Starts, crashes and stops of the relay, and what operators and time servers do.

extension World {
    /// One life after the other, until the world is over.
    func keepAlive() async {
        while !isOver {
            lives += 1
            let life = Life(lives, loop)
            self.life = life
            note(.lifeBegins, who: -1, Int64(lives))
            await live(life)
            note(.lifeEnds, who: -1, Int64(lives))
            buryPushes(of: life)
            if isOver { break }
            storage = storage.afterCrash()
            await pause(dice.time(.machine, 50...20_000))
            trouble()
        }
    }

    private func live(_ life: Life) async {
        if strikes(.crashInRecovery, .machine, oneIn: 3) {
            after(.microseconds(dice.roll(.machine, 1...9_000))) {
                if !life.isReady { life.kill() }
            }
        }
        await withTaskGroup(of: Void.self) { group in
            group.addTask(executorPreference: loop) { await self.serve(life) }
            group.addTask(executorPreference: loop) { await life.death.park() }
            await group.next()
            life.kill()
            group.cancelAll()
        }
    }

    private func serve(_ life: Life) async {
        var configuration = plan.configuration
        plant?.spoil(&configuration)
        let relay = Relay(
            loop: loop, log: SimulatedLog(self, life, storage), sender: Sender(self, life),
            configuration: configuration, wallClock: clock, seed: dice.seed(.machine))
        life.relay = relay
        apple.begin()
        do {
            let damage = try await relay.recover()
            guard !life.isDead else { return }
            for line in damage { violated(.damage, line) }
            await checkRecovered(relay)
            guard !life.isDead else { return }
            note(.recovered, who: -1, Int64(reference.events.count))
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask(executorPreference: loop) {
                    defer { life.kill() }
                    try await relay.run()
                }
                while !life.isDead, await !relay.isReady { await pause(.microseconds(100)) }
                if !life.isDead {
                    life.isReady = true
                    trouble()
                    apple.connect(life)
                }
                try await group.next()
            }
        } catch {
            note(.crash, who: -1, Int64(life.number), 0, "\(error)")
        }
    }

    /// What a life that has ended had under way, nobody will ever know.
    private func buryPushes(of life: Life) {
        for outbox in outboxes.values {
            for index in outbox.sends.indices where outbox.sends[index].life == life.number {
                let answeredAt = outbox.sends[index].answeredAt ?? loop.now
                outbox.sends[index].isForgotten = loop.now - answeredAt < .seconds(10)
                guard outbox.sends[index].fate == .open else { continue }
                outbox.sends[index].fate = .unknown
                outbox.sends[index].answeredAt = loop.now
            }
        }
    }

    /// The power goes, now.
    func crash() {
        guard let life, !life.isDead else { return }
        note(.crash, who: -1, Int64(life.number))
        life.kill()
    }

    /// Crashes, stops and clocks, until the heal.
    func operate() async {
        while !isHealed {
            await pause(dice.time(.machine, 200...120_000))
            if isHealed || isOver { return }
            if strikes(.crashes, .machine, oneIn: 2) { crash() }
            if strikes(.wallSteps, .machine, oneIn: 2) { stepWallClock() }
            if strikes(.orderlyRestarts, .machine, oneIn: 4), let relay = life?.relay {
                note(.orderlyStop, who: -1)
                await relay.finish()
            }
        }
    }

    private func stepWallClock() {
        let offset = dice.pick(.machine, [-3_600, -90, -5, 0, 5, 90, 1_200, 3_600])
        clock.step(to: .seconds(Int64(offset)))
        note(.wallStep, who: -1, Int64(offset))
    }
}
