import TestSupport
import TomboloCore
import TomboloEventLog
import TomboloLoop
import TomboloRelay

// Starts, crashes and stops of the relay.

extension World {
    /// One life after the other, until the world is over.
    func keepAlive() async {
        while !isOver {
            lives += 1
            let life = Life(lives, loop)
            self.life = life
            ageByReboot()
            note(.lifeBegins, who: -1, Int64(lives))
            await live(life)
            note(.lifeEnds, who: -1, Int64(lives))
            if plan.usesWire { wires.last?.gate.cut() }
            buryPushes(of: life)
            if isOver { break }
            storage = storage.afterCrash()
            if seam.cutsUnderHeads, lastOld > 0 { storage.cutRegardless(through: lastOld) }
            restoreIfAsked()
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
        let begin = loop.now
        let wire = wire(life)
        let relay = Relay(
            loop: loop, log: SimulatedLog(self, life, storage),
            sender: wire ?? Sender(self, life), configuration: plan.configuration,
            wallClock: seam.clock, seed: dice.seed(.machine),
            channels: faults.contains(FaultSet(.channels)) ? office(of: life) : nil,
            report: { [self] in checkTelling("a note", "\($0.text) \($0.remedy ?? "")") })
        life.relay = relay
        apple.begin()
        do {
            let damage = try await relay.recover()
            guard !life.isDead else { return }
            for line in damage { violated(.damage, line) }
            checkTelling("recovery", damage.joined())
            await checkRecovered(relay)
            checkLaws()
            guard !life.isDead else { return }
            note(.recovered, who: -1, Int64(reference.events.count))
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask(executorPreference: loop) {
                    defer { life.kill() }
                    try await relay.run()
                }
                if faults.contains(FaultSet(.channels)) {
                    group.addTask(executorPreference: loop) { await relay.makeChannels() }
                }
                if let wire { group.addTask(executorPreference: loop) { await wire.run() } }
                var wait = Duration.microseconds(100)
                while !life.isDead, await !relay.isReady {
                    await pause(wait)
                    wait = min(wait * 2, .milliseconds(20))
                }
                if !life.isDead {
                    checkRecoveryTime(since: begin)
                    life.isReady = true
                    trouble()
                    apple.connect(life)
                }
                try await group.next()
            }
        } catch {
            checkTelling("an error", "\(error)")
            note(.crash, who: -1, Int64(life.number), 0, "\(error)")
        }
    }

    private func office(of life: Life) -> ChannelOffice {
        let office = ChannelOffice(self, life)
        offices.append(office)
        return office
    }

    /// The wire of a life, in a share of the worlds.
    private func wire(_ life: Life) -> WireSender? {
        guard plan.usesWire else { return nil }
        do {
            let wire = try WireSender(self, life)
            wires.append(wire)
            return wire
        } catch {
            violated(.wire, "\(error)")
            return nil
        }
    }

    /// What a life that has ended had under way, nobody will ever know.
    private func buryPushes(of life: Life) {
        for outbox in Array(outboxes.values) + reloadBooks.map(\.sent) {
            for index in outbox.sends.indices where outbox.sends[index].life == life.number {
                let answeredAt = outbox.sends[index].answeredAt ?? loop.now
                outbox.sends[index].isForgotten = isUnrecorded(answeredAt)
                guard outbox.sends[index].fate == .open else { continue }
                outbox.sends[index].fate = .unknown
                outbox.sends[index].answeredAt = loop.now
            }
        }
    }

    /// Between what is on record of a push and the push itself, or right after it.
    func crashInTurn() {
        if strikes(.crashInTurn, .machine, oneIn: 40) { crash() }
    }

    /// The power goes, now.
    func crash() {
        guard let life, !life.isDead else { return }
        note(.crash, who: -1, Int64(life.number))
        life.kill()
    }
}
