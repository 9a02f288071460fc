import TestSupport
import TomboloCore
import TomboloJSON
import TomboloLoop
import TomboloRelay

/// One producer of one tenant: it asks, and asks again where it was not told what became of it.
struct Producer {
    private static let attemptsMax = 6

    let world: World
    let tenant: TenantID
    private let number: Int

    init(_ world: World, _ tenant: TenantID, _ number: Int) {
        self.world = world
        self.tenant = tenant
        self.number = number
    }

    func run() async {
        let gap = Int(world.plan.chaos.components.seconds) * 1_000 / world.plan.requests
        for _ in 0..<world.plan.requests {
            await world.pause(world.dice.time(.producers, 1...max(2, 2 * gap)))
            guard world.loop.now < world.plan.chaosEnd else { return }
            if world.strikes(.bursts, .producers, oneIn: 10) {
                await burst()
            } else if world.strikes(.batches, .producers, oneIn: 8) {
                await atomicBatch()
            } else if world.strikes(.endMany, .producers, oneIn: 15) {
                await endMany()
            } else {
                await ask(command())
            }
        }
    }

    // MARK: What is asked

    private func activityID() -> String {
        "act-\(world.dice.roll(.producers, 1...world.plan.activitiesEach))"
    }

    private func command() -> (Command, Int64) {
        let id = activityID()
        let known = world.reference.model(tenant: tenant, id: id)?.1
        guard let known else { return start(id) }
        if known.hasEnded {
            if world.strikes(.restarts, .producers, oneIn: 2) { return start(id) }
            return world.dice.happens(.producers, oneIn: 4) ? start(id) : update(id)
        }
        switch world.dice.roll(.producers, 1...20) {
        case 1: return end(id)
        case 2: return start(id)
        case 3, 4, 5, 6:
            return mayPlay ? play(id) : update(id)
        default: return update(id)
        }
    }

    private func state(_ id: String, _ mark: Int64, whole: Bool) -> String {
        "{\"t\":\"\(tenant.name.rawValue)\",\"a\":\"\(id)\",\"n\":\(mark)"
            + (whole ? ",\"f\":\"0\",\"x\":0,\"p\":\"\(World.canary)\"}" : "}")
    }

    private func alert(mayHurry: Bool = true) -> String {
        guard world.strikes(.alerts, .producers, oneIn: 5) else { return "" }
        world.numbers += 1
        let ttl = world.dice.pick(.producers, ["", "", ",\"alert_ttl\":\"20s\""])
        return ",\"alert\":{\"title\":\"\(world.numbers)\",\"body\":\"!\",\"sound\":\"default\"}"
            + "\(mayHurry ? ttl : "")"
    }

    func start(_ id: String, on channel: String? = nil) -> (Command, Int64) {
        let mark = nextNumber()
        let audience = world.dice.pick(
            .producers,
            [
                "\"user\":\"ann\"", "\"device\":\"phone-0\"",
                "\"devices\":[\"phone-0\",\"phone-1\",\"phone-2\"]",
            ])
        var route = world.strikes(.adopted, .producers, oneIn: 3) ? ",\"start\":\"adopt\"" : ""
        if route.isEmpty, world.strikes(.channels, .producers, oneIn: 2) {
            route = ",\"start\":\"\(world.dice.pick(.producers, ["auto", "channel"]))\""
        }
        var whom = audience + route
        if let channel { whom = "\"channel\":\"\(channel)\"" }
        var text =
            "{\"type\":\"\(Plan.type(of: id))\",\"audience\":{\(whom)}"
            + ",\"state\":\(state(id, mark, whole: true))"
        if world.dice.happens(.producers, oneIn: 5) { text += ",\"on_unknown_start\":\"resend\"" }
        if world.dice.happens(.producers, oneIn: 4) { text += ",\"start_wait\":\"40s\"" }
        if world.dice.happens(.producers, oneIn: 4) {
            text += ",\"show_when\":{\"frames\":\"always\"}"
        }
        if world.strikes(.cardLives, .producers, oneIn: 2) { text += ",\"renew\":\"always\"" }
        if world.dice.happens(.producers, oneIn: 5) || world.faults.contains(FaultSet(.repeats)) {
            text += ",\"stale_after\":\"10m\""
        }
        var (command, number) = make(.start, id, text + alert() + "}", mark)
        command.restart = world.dice.happens(.producers, oneIn: 2)
        return (command, number)
    }

    /// - Parameter urgency: nil: as the dice say.
    func update(
        _ id: String, whole: Bool = false, urgency given: String? = nil
    ) -> (Command, Int64) {
        let mark = nextNumber()
        let isWhole = whole || world.dice.happens(.producers, oneIn: 8)
        let urgency = given ?? world.dice.pick(.producers, ["low", "normal", "high"])
        var text =
            "{\"\(isWhole ? "replace" : "state")\":\(state(id, mark, whole: isWhole))"
            + ",\"urgency\":\"\(urgency)\""
        if world.strikes(.lateStates, .producers, oneIn: 3) {
            let late = world.dice.roll(.producers, 0...5)
            text += ",\"state_version\":\(max(0, Int(mark) - late * 3))"
        }
        return make(.update, id, text + alert() + "}", mark)
    }

    func end(_ id: String) -> (Command, Int64) {
        let mark = nextNumber()
        let dismiss = world.dice.pick(.producers, ["now", "default", "after 15m"])
        let text =
            "{\"state\":\(state(id, mark, whole: false)),\"dismiss\":\"\(dismiss)\""
            + alert(mayHurry: false) + "}"
        return make(.end, id, text, mark)
    }

    private var mayPlay: Bool {
        let clips: FaultSet = [FaultSet(.clips), FaultSet(.bundles)]
        return !world.isHealed && !world.faults.isDisjoint(with: clips)
    }

    private func play(_ id: String) -> (Command, Int64) {
        if world.strikes(.tweens, .producers, oneIn: 2) { return tween(id) }
        let count = world.dice.pick(.producers, [2, 5, 15])
        let mark = nextNumber()
        let frames = (0..<count).map { "\"\(mark)-\($0)\"" }.joined(separator: ",")
        // A destination without a budget shows them all: fast ones cost too much where hours pass.
        let fast = world.plan.chaos <= .seconds(120) ? "100ms" : "5s"
        let every = world.dice.pick(.producers, [fast, "1s", "1s", "5s"])
        let loop = world.dice.pick(.producers, ["\"forever\"", "\"forever\"", "3", "\"once\""])
        let text =
            "{\"flipbook\":{\"path\":\"/f\",\"frames\":[\(frames)],\"every\":\"\(every)\""
            + ",\"loop\":\(loop)},\"urgency\":\"normal\"\(fit("bundle"))}"
        return make(.play, id, text, mark)
    }

    /// As a whole, where that is drawn; without other clips always.
    private func fit(_ name: String) -> String {
        let isWhole =
            world.strikes(.bundles, .bundles, oneIn: 2)
            || !world.faults.contains(FaultSet(.clips))
        return isWhole ? ",\"fit\":\"\(name)\"" : ""
    }

    /// A value on its way; its last one is the state from then on.
    private func tween(_ id: String) -> (Command, Int64) {
        let duration = world.dice.pick(.producers, ["800ms", "4s", "30s", "5m"])
        let easing = world.dice.pick(.producers, ["\"linear\"", "\"easeInOut\""])
        let every = world.plan.chaos <= .seconds(120) ? "200ms" : "5s"
        let other = world.dice.pick(.producers, ["", ",\"fit\":\"step\""])
        let whole = fit("keyframes")
        let fit = whole.isEmpty ? other : whole
        let mark = nextNumber()
        let text =
            "{\"tween\":{\"path\":\"/x\",\"from\":0,\"to\":\(mark)"
            + ",\"duration\":\"\(duration)\",\"easing\":\(easing)"
            + ",\"every\":\"\(every)\"}\(fit),\"urgency\":\"normal\"}"
        return make(.play, id, text, mark)
    }

    private func nextNumber() -> Int64 {
        world.numbers += 1
        return world.numbers
    }

    private func make(
        _ kind: EventKind, _ id: String, _ text: String, _ mark: Int64
    ) -> (Command, Int64) {
        let document = JSON(unchecked: Array(text.utf8)).document
        // The simulation writes what it reads: a fault here is its own.
        guard let content = try? Command.Content(kind: kind, document.root) else {
            preconditionFailure(text)  // our own text
        }
        let key = ActivityKey(tenant: tenant, id: Plan.identifier(id))
        var command = Command(activity: key, content: content, body: document.bytes)
        if world.isHealed || world.dice.happens(.producers, oneIn: 2) {
            command.idempotency = IdempotencyKey(
                key: "key-\(mark)", bodyDigest: UInt64(bitPattern: mark) &* 0x9e37_79b9)
        }
        return (command, mark)
    }

    // MARK: Asking

    func ask(_ question: (Command, Int64)) async {
        let index = world.ledger.add(question.0, number: question.1)
        await ask(index)
        guard let key = question.0.idempotency else { return }
        if world.strikes(.reusedKeys, .producers, oneIn: 4) { await reuse(key) }
        guard world.strikes(.duplicates, .producers, oneIn: 3) else { return }
        await world.pause(world.dice.time(.producers, 1...20_000))
        await ask(index)
    }

    /// Another request under a key that was used.
    private func reuse(_ key: IdempotencyKey) async {
        var (command, mark) = update(activityID())
        command.idempotency = IdempotencyKey(
            key: key.key, bodyDigest: UInt64(bitPattern: mark) &* 0x9e37_79b9)
        await ask(world.ledger.add(command, number: mark))
    }

    /// An end for everything that matches.
    private func endMany() async {
        let user = world.dice.pick(.producers, [nil, "ann", "bob"] as [String?])
        let type = world.dice.pick(.producers, [nil, "Runner", "Walker"] as [String?])
        let body = Array("{\"dismiss\":\"now\"}".utf8)
        guard
            // The simulation writes what it reads.
            case .end(let end)? = try? Command.Content(
                kind: .end, JSON(unchecked: body).document.root)
        else { preconditionFailure("an end") }  // our own text
        guard let life = world.life, life.isReady, let relay = life.relay else { return }
        let request = EndMany(tenant: tenant, type: type, user: user, end: end, body: body)
        let before = world.reference.models
        world.note(.command, who: -1, 0, 0, "end of all \(type ?? "") \(user ?? "")")
        let answer = await world.seam.endMany(request, relay)
        guard !life.isDead, case .acceptedAll(let all) = answer else { return }
        world.checkEnds(all, of: request, before)
    }

    /// Asks until it is told; gives up after a while, and never asks twice without a key.
    private func ask(_ index: Int) async {
        let command = world.ledger.requests[index].command
        let number = world.ledger.requests[index].number
        for attempt in 1...(world.isHealed ? 200 : Self.attemptsMax) {
            guard let life = world.life, life.isReady, let relay = life.relay else {
                await world.pause(.milliseconds(500 * attempt))
                continue
            }
            world.note(
                .command, who: -1, number, Int64(attempt),
                "\(command.activity.id) \(command.content.kind.name) of \(tenant.name)")
            let answer = await relay.submit(command)
            let isKnown = !life.isDead && world.take(answer, index)
            world.note(.answer, who: -1, number, isKnown ? 1 : 0)
            if isKnown { return }
            world.ledger.unknown(index)
            if command.idempotency == nil { return }
            await world.pause(.milliseconds(300 * attempt))
        }
    }

    /// Says once more what an activity shows already.
    func `repeat`(_ id: String, _ mark: Int64) async {
        let number = nextNumber()
        // Blanks, so that each of them is a body of its own.
        let blanks = String(repeating: " ", count: Int(number))
        await ask(
            make(.update, id, "{\"state\":{\"n\":\(mark)},\"urgency\":\"low\"\(blanks)}", number))
    }

    /// Many updates of one activity in one turn.
    private func burst() async {
        let id = activityID()
        let questions = (0..<world.dice.roll(.producers, 3...15)).map { _ in update(id) }
        let indices = questions.map { world.ledger.add($0.0, number: $0.1) }
        guard let life = world.life, life.isReady, let relay = life.relay else { return }
        world.note(.command, who: -1, questions[0].1, Int64(questions.count), "a burst")
        let answers = await relay.submit(questions.map(\.0))
        if answers.count != questions.count {
            world.violated(.answered, "\(answers.count) answers to \(questions.count)")
        }
        for (index, answer) in zip(indices, answers)
        where life.isDead || !world.take(answer, index) {
            world.ledger.unknown(index)
        }
    }

    private func atomicBatch() async {
        let questions = (0..<world.dice.roll(.producers, 2...4)).map { _ in command() }
        let indices = questions.map { world.ledger.add($0.0, number: $0.1) }
        guard let life = world.life, life.isReady, let relay = life.relay else { return }
        world.note(.command, who: -1, questions[0].1, Int64(questions.count), "atomic")
        let answer = await relay.submitAtomically(questions.map(\.0))
        for (place, index) in indices.enumerated() {
            switch answer {
            case .acceptedAll(let all) where !life.isDead && all.count == indices.count:
                _ = world.take(.accepted(all[place]), index)
            case .refusedBatch(_, let refusal) where !life.isDead:
                _ = world.take(.refused(refusal), index)
            default: world.ledger.unknown(index)
            }
        }
    }

    /// Stops the clips, so that the hours until all is calm are cheap.
    func stopEverything() async {
        for (tenant, id) in world.runningActivities() {
            // A bundle costs nothing, however long it plays.
            if world.reference.model(tenant: tenant, id: id)?.1.bundle != nil { continue }
            let producer = Producer(world, tenant, number)
            await producer.ask(producer.make(.stop, id, "{}", producer.nextNumber()))
        }
    }

    /// Changes of high urgency in close order, of everything of the tenant that runs.
    func press() async {
        for (owner, id) in world.runningActivities() where owner == tenant {
            for _ in 0..<4 where !world.isHealed {
                await ask(update(id, urgency: "high"))
                await world.pause(world.dice.time(.producers, 1_000...1_500))
            }
        }
    }

    /// After the heal: one more change of everything that runs.
    func changeEverything() async {
        for (tenant, id) in world.runningActivities() {
            await Producer(world, tenant, number).ask(
                Producer(world, tenant, number).update(id, whole: true))
        }
    }
}
