import TestSupport
import TomboloCore
import TomboloJSON
import TomboloLoop
import TomboloRelay

// Named channels: a producer has them made, activities go there one after the other, and apps begin
// the cards that listen.

extension World {
    /// One that keeps the newest message for phones that are away, and one that keeps nothing.
    static let channelNames = ["final", "live"]

    // MARK: Producers

    /// Makes the channels, takes them away and makes them again, until the heal.
    func keepChannels() async {
        guard faults.contains(FaultSet(.broadcasts)) else { return }
        while !isHealed, !isOver {
            for tenant in plan.tenants {
                for name in Self.channelNames {
                    let key = ChannelKey(tenant: tenant, name: Plan.identifier(name))
                    await makeChannel(key)
                    if dice.happens(.broadcasts, oneIn: 6) { await deleteChannel(key) }
                    if dice.happens(.broadcasts, oneIn: 10) { loseChannel(key) }
                }
            }
            let tenant = dice.pick(.broadcasts, plan.tenants)
            await Producer(self, tenant, 97).broadcast(
                on: dice.pick(.broadcasts, Self.channelNames))
            await pause(dice.time(.broadcasts, 1_000...200_000))
        }
    }

    /// As the doors do it: at Apple first, then on record.
    private func makeChannel(_ key: ChannelKey) async {
        guard let life, life.isReady, let relay = life.relay, await relay.channel(key) == nil,
            let upstream = await relay.upstreams(of: key.tenant, app: nil, environment: nil).first?
                .upstream
        else { return }
        let office = ChannelOffice(self, life)
        let storage: Channel.Storage = key.name.rawValue == "live" ? .nothing : .mostRecent
        do throws(ChannelFailure) {
            let id = try await office.create(storage, in: upstream)
            apple.channels[id]?.isNamed = true
            let made = Channel(
                tenant: key.tenant, app: Self.appID, environment: .sandbox, name: key.name,
                id: id, storage: storage)
            let answer = await relay.submitChannelCommand(.made(made))
            guard !life.isDead, case .stored = answer else {
                // Whether it is on record nobody knows.
                return
            }
            note(.command, who: -1, 0, 0, "channel \(key.name) of \(key.tenant) is \(id)")
        } catch {
            note(.command, who: -1, 0, 0, "no channel \(key.name): \(error)")
        }
    }

    /// As the doors do it: only one that carries nothing.
    private func deleteChannel(_ key: ChannelKey) async {
        guard let life, life.isReady, let relay = life.relay,
            let channel = await relay.channel(key), await relay.activity(on: key) == nil,
            !life.isDead
        else { return }
        note(.command, who: -1, 0, 0, "channel \(key.name) of \(key.tenant) goes")
        removeChannel(channel.id)
        _ = await relay.submitChannelCommand(.deleted(key))
    }

    /// Somebody deletes a channel at Apple, and the relay does not know.
    private func loseChannel(_ key: ChannelKey) {
        let upstream = plan.configuration.apps.firstIndex { $0.tenant == key.tenant } ?? 0
        let there = apple.channels.values.filter {
            $0.isNamed && !$0.isDeleted && $0.upstream == UpstreamNumber(Int32(upstream))
        }.sorted { $0.id < $1.id }
        guard !there.isEmpty else { return }
        let one = dice.pick(.broadcasts, there)
        note(.command, who: -1, 0, 0, "channel \(one.id) is lost at Apple")
        removeChannel(one.id)
    }

    /// No push comes through it any more, whatever its cards wait for.
    func removeChannel(_ id: String) {
        apple.channels[id]?.isDeleted = true
        for phone in phones {
            for card in phone.sortedCards where card.channel == id { card.isDismissed = true }
        }
    }

    // MARK: Phones

    /// An activity has begun on a channel: apps begin cards that listen there, some of them later.
    func tuneIn(_ event: NewEvent) {
        guard let model = reference.models[event.activity], let name = model.channel,
            let relay = life?.relay
        else { return }
        let key = ChannelKey(tenant: event.tenant, name: Plan.identifier(name))
        guard let id = relay.assumeIsolated({ $0.channel(key)?.id }) else { return }
        let reference = ActivityReference(
            id: Plan.identifier(model.id), incarnation: model.incarnation)
        for phone in phones where phone.tenant == event.tenant && !phone.system.hasPrefix("17") {
            // The app knows what it listens to now.
            for card in phone.sortedCards where card.channel == id && card.reference != reference {
                card.isDismissed = true
            }
            guard dice.happens(.broadcasts, oneIn: 2) else { continue }
            let installation = phone.installation
            let isLate = dice.happens(.broadcasts, oneIn: 4)
            after(dice.time(.broadcasts, isLate ? 1...400_000 : 1...10_000)) { [self] in
                guard phone.installation == installation, phone.cards[reference] == nil,
                    apple.channels[id]?.isDeleted == false,
                    let now = self.reference.models[event.activity], !now.hasEnded,
                    now.incarnation == model.incarnation
                else { return }
                let card = Card(reference)
                card.channel = id
                card.isRegistered = true
                card.registeredSince = loop.now
                // It begins with what its backend says.
                card.mark = now.mark
                phone.cards[reference] = card
                note(.card, who: phone.number, now.mark, 2, reference.text)
            }
        }
    }

    // MARK: Checks

    /// What goes to a named channel: one activity's life after the other, each with its end.
    func checkNamed(
        _ push: Push, _ channel: Broadcast, _ key: CardKey, _ life: Life
    ) {
        func check(_ holds: Bool, _ detail: @autoclosure () -> String) {
            guard !holds else { return }
            violated(.broadcasts, "\(channel.id) \(key.reference.text): \(detail())")
        }
        check(
            channel.keeps == .mostRecent || push.expiration == 0,
            "an expiration, where nothing is kept")
        check(channel.toldGoneIn != life.number, "it is gone")
        guard channel.carriedNow != key else { return }
        check(!channel.carriedBefore.contains(key), "after another's")
        if let before = channel.carriedNow, let outbox = outboxes[before] {
            check(
                outbox.sends.contains { $0.event == .end && $0.fate == .accepted },
                "before the end of \(before.reference.text)")
            channel.carriedBefore.insert(before)
        }
        channel.carriedNow = key
    }

    /// A channel's grant is for all that goes there.
    func checkChannelWindows() {
        guard faults.contains(FaultSet(.broadcasts)) else { return }
        for id in apple.channels.keys.sorted() {
            let sent = Outbox(type: id)
            sent.sends = outboxes.filter { $0.key.phone < 0 }.flatMap(\.value.sends)
                .filter { $0.token == id }.sorted { $0.at < $1.at }
            let grants = GrantTimeline(.channel)
            for (promise, detail, at) in sent.windowFaults(grants, plan.configuration.budgets) {
                violated(promise, "channel \(id) as a whole: \(detail), sent at \(at)")
            }
        }
    }
}

extension Producer {
    /// A few lives in a row on a channel, each with changes close together and an end.
    func broadcast(on name: String) async {
        if world.dice.happens(.broadcasts, oneIn: 2) { return await hurry(on: name) }
        for _ in 0..<world.dice.roll(.broadcasts, 1...3) where !world.isHealed {
            let id = "act-\(world.dice.roll(.broadcasts, 1...world.plan.activitiesEach))"
            var question = start(id, on: name)
            question.0.restart = true
            await world.seam.beginning(on: name, of: tenant)
            await ask(question)
            for _ in 0..<world.dice.roll(.broadcasts, 1...4) where !world.isHealed {
                await world.pause(world.dice.time(.broadcasts, 1...4_000))
                await ask(update(id))
            }
            // The next one begins with what this one has left of the budget, or with a new one.
            let isShort = world.dice.happens(.broadcasts, oneIn: 2)
            await world.pause(world.dice.time(.broadcasts, isShort ? 1...2_000 : 1...200_000))
            guard world.dice.happens(.broadcasts, oneIn: 2), !world.isHealed else { continue }
            await ask(end(id))
            await world.pause(world.dice.time(.broadcasts, 1...5_000))
        }
    }

    /// Lives so close together that the next one has no budget but what the one before has left.
    private func hurry(on name: String) async {
        for _ in 0..<world.dice.roll(.broadcasts, 2...3) where !world.isHealed {
            let id = "act-\(world.dice.roll(.broadcasts, 1...world.plan.activitiesEach))"
            var question = start(id, on: name)
            question.0.restart = true
            await world.seam.beginning(on: name, of: tenant)
            await ask(question)
            for _ in 0..<3 where !world.isHealed {
                await world.pause(world.dice.time(.broadcasts, 1_000...7_000))
                await ask(update(id, urgency: "high"))
            }
            await world.pause(world.dice.time(.broadcasts, 1...8_000))
            await ask(end(id))
            await world.pause(world.dice.time(.broadcasts, 500...5_000))
        }
    }
}
