import TestSupport
import TomboloCore
import TomboloEventLog
import TomboloJSON
import TomboloLoop
import TomboloRelay

// The checkers that look at a whole: at each recovery, and at the end.

extension World {
    /// Of a plan's tenants, oldest first.
    func runningActivities() -> [(TenantID, String)] {
        reference.models.sorted { $0.key < $1.key }.filter { !$0.value.hasEnded }
            .map { ($0.value.tenant, $0.value.id) }
    }

    /// The newest version of an activity, once `batch` is stored.
    func newestVersion(_ activity: Int64, with batch: AppendBatch) -> Int64 {
        let number = ActivityNumber(activity)
        let inBatch = batch.events.last { $0.activity == number }.map { $0.expectedVersion + 1 }
        return inBatch ?? reference.models[number]?.version ?? 0
    }

    // MARK: fold(log)

    /// Compares every activity of a relay with the fold of its events.
    func checkRecovered(_ relay: Relay) async {
        var folds: [ActivityNumber: Projection] = [:]
        readContents()
        for (event, content) in zip(reference.events, contents) {
            guard let content else {
                violated(.fold, "the event \(event.seq) cannot be read")
                continue
            }
            let number = event.event.activity
            if case .start(let start) = content {
                folds[number] = Projection(
                    start, version: event.version, at: event.event.recordedAt)
            } else {
                folds[number]?.apply(
                    content, version: event.version, at: event.event.recordedAt)
            }
        }
        for (number, fold) in folds.sorted(by: { $0.key < $1.key }) {
            await compare(relay, number, fold)
        }
        await checkListed(relay)
        for tenant in plan.tenants { await checkPages(relay, tenant) }
    }

    /// Of those events that were not read before.
    private func readContents() {
        for event in reference.events.dropFirst(contents.count) {
            let view = JSON(unchecked: event.event.body).document.root
            // The simulation wrote it: a fault here is its own, and reported.
            contents.append(try? Command.Content(kind: event.event.kind, view, lenient: true))
        }
    }

    private func compare(_ relay: Relay, _ number: ActivityNumber, _ fold: Projection) async {
        guard let model = reference.models[number],
            // Its name may be another's by now.
            reference.model(tenant: model.tenant, id: model.id)?.0 == number
        else { return }
        let key = ActivityKey(tenant: model.tenant, id: Plan.identifier(model.id))
        guard let view = await relay.activity(key) else {
            if mayBeDropped(model) { return }
            violated(.fold, "\(model.id) of \(model.tenant.name) is not there")
            return
        }
        let wall = await relay.wallNow()
        func check(_ holds: Bool, _ what: String) {
            if !holds { violated(.fold, "\(model.id) of \(model.tenant.name): \(what)") }
        }
        check(view.number == number, "number \(view.number.rawValue), not \(number.rawValue)")
        checkCount(view.tenantSeq, of: view.seq)
        check(view.version == fold.version, "version \(view.version), not \(fold.version)")
        check(view.incarnation == model.incarnation, "incarnation \(view.incarnation)")
        check(view.state.bytes == fold.state(at: wall).bytes, "another state")
        check((view.status == .ended) == (fold.ending != nil), "\(view.status)")
        check(view.state.document.root["n"]?.integer == model.mark, "not mark \(model.mark)")
        check(
            view.state.document.root["t"]?.string == model.tenant.name.rawValue,
            "another tenant's state")
    }

    // MARK: The end

    /// Before the one more change that heals what Apple has lost and no echo has made good.
    func checkAfterHealing() async {
        guard let relay = life?.relay else { return }
        for phone in phones {
            for card in phone.sortedCards
            where !card.hasLostUpdate && !card.hasLostEnd || isToBeEchoed(card, phone)
                || isEndToBeEchoed(card, phone)
            {
                await checkConverged(card, phone, relay)
            }
        }
    }

    func checkAtTheEnd() async {
        checkLedger()
        for (key, outbox) in outboxes.sorted(by: { order($0.key, $1.key) }) {
            let timeline =
                key.phone < 0
                ? GrantTimeline(.channel) : timeline(phones[key.phone], outbox.type)
            let budgets = plan.configuration.budgets
            for (promise, detail, at) in outbox.windowFaults(timeline, budgets) {
                violated(
                    promise,
                    "phone \(key.phone) \(key.reference.text): \(detail), sent at "
                        + "\(Double(at.nanoseconds / 1_000_000) / 1_000)s")
            }
            checkFrames(key, outbox)
            checkEchoes(key, outbox)
            checkBundles(key, outbox)
        }
        checkDeviceWindows()
        checkWidgets()
        checkReloads()
        checkChannelWindows()
        guard let relay = life?.relay else { return }
        await checkRecovered(relay)
        checkLaws()
        for phone in phones {
            for card in phone.sortedCards { await checkConverged(card, phone, relay) }
            checkTokensKnown(phone)
        }
        await checkBooks(relay)
        await checkOutcomes(relay)
        await checkDoors(relay)
        await rebuildAndCompare()
        await checkClock(relay)
    }

    private func order(_ one: CardKey, _ other: CardKey) -> Bool {
        (one.phone, one.installation, one.reference.text)
            < (other.phone, other.installation, other.reference.text)
    }

    private func checkLedger() {
        var rows: [[UInt8]: Int] = [:]
        var keys: Set<[String]> = []
        for event in reference.events {
            rows[event.event.body, default: 0] += 1
            guard let key = event.event.idempotency?.key else { continue }
            if !keys.insert([event.event.tenant.name.rawValue, key]).inserted {
                violated(.once, "\(key) brought two events, the second at \(event.seq)")
            }
        }
        for request in ledger.requests where request.command.content.kind != .stop {
            let count = rows[request.command.completed(by: nil).body] ?? 0
            if request.seq != nil, count != 1 {
                violated(.durable, "request \(request.number) is in the log \(count) times")
            } else if count > 1 {
                violated(.once, "request \(request.number) is in the log \(count) times")
            } else if count == 1, request.wasRefused, !request.isUnknown, request.seq == nil {
                violated(.once, "request \(request.number) was refused, and is in the log")
            }
        }
    }

    /// A looping clip does not stand still: of two frames that follow one another the second is the
    /// next one. Pushes of a state beside the clip (a repetition, an echo) show the last frame
    /// again, so only frames are compared; and only of one life, for the next one may not know how
    /// far the one before had come.
    private func checkFrames(_ key: CardKey, _ outbox: Outbox) {
        let sends = outbox.sends
        for (one, other) in zip(sends, sends.dropFirst()) {
            guard one.isFrame, other.isFrame, one.fate == .accepted, other.fate == .accepted,
                one.bundle == nil, other.bundle == nil, one.life == other.life,
                one.token == other.token, one.value == other.value,
                !outbox.departures.contains(where: { $0 > one.at && $0 <= other.at }),
                let frame = one.frame,
                let next = other.frame, let (play, index) = Self.place(frame),
                let (nextPlay, nextIndex) = Self.place(next), play == nextPlay,
                let count = reference.loops[play], nextIndex != (index + 1) % count
            else { continue }
            violated(
                .frames,
                "phone \(key.phone) \(key.reference.text): "
                    + "frame \(next) after \(frame) of \(count)")
            return
        }
    }

    /// Of which play a frame is, and which of its frames.
    private static func place(_ frame: String) -> (play: Int64, index: Int)? {
        let parts = frame.split(separator: "-")
        guard parts.count == 2, let play = Int64(parts[0]), let index = Int(parts[1]) else {
            return nil
        }
        return (play, index)
    }

    /// An app tells each token that it gets, also one that it got without a network.
    private func checkTokensKnown(_ phone: Phone) {
        guard phone.isOnline, phone.uploads.isEmpty, !phone.isWrong, !phone.isStranger,
            !phone.wasDeleted
        else { return }
        for card in phone.sortedCards
        where card.token != nil && !card.isRegistered && !card.isDismissed && !card.hasEnded
            && !card.isLapsed && !card.isStranded && !card.isUnnamed && !card.isLeft
        {
            violated(
                .tokensKnown,
                "phone \(phone.number) \(card.reference.text): its token is not known")
        }
    }

    private func checkConverged(_ card: Card, _ phone: Phone, _ relay: Relay) async {
        guard card.isRegistered, !card.isDismissed, !card.isStranded, !card.isUnnamed,
            let (_, model) = reference.model(
                tenant: phone.tenant, id: card.reference.id.rawValue),
            // What a restored log has lost it cannot end.
            card.reference.incarnation <= model.incarnation
        else { return }
        let name = "phone \(phone.number) \(card.reference.text)"
        checkPlaceTaken(card, phone)
        let hasLeft = card.hasEnded && successor(of: card, phone) != nil
        guard !isNearEnd(card, phone), !hasLeft else { return }
        if card.isLeft {
            guard !card.hasEnded else { return }
            if !card.hasLostEnd { violated(.ended, "\(name) is another user's") }
            if isEndToBeEchoed(card, phone) { violated(.left, "\(name) has lost its end") }
            return
        }
        if model.hasEnded || model.incarnation != card.reference.incarnation {
            if !card.hasEnded, !card.hasLostEnd { violated(.ended, "\(name) still runs") }
            return
        }
        let key = ActivityKey(tenant: phone.tenant, id: card.reference.id)
        guard let view = await relay.activity(key) else { return }
        if card.mark != model.mark {
            let known = view.destinations.first { $0.recipient == .device(phone.id) }
            let why = known.map { "\($0.phase), \($0.waiting?.reason ?? "waits for nothing")" }
            violated(
                .converges,
                "\(name) shows mark \(card.mark), not \(model.mark); \(why ?? "unknown")")
        } else if view.clip?.playing != true, card.state != view.state.bytes,
            !card.state.isEmpty
        {
            violated(.converges, "\(name) shows another frame")
        } else if view.clip?.playing == true {
            checkBundle(on: card, phone, name, model)
        } else {
            checkFresh(card, view, name)
        }
    }

    /// A relay that begins with what is durable now knows what the running one knows.
    private func rebuildAndCompare() async {
        guard let running = life?.relay else { return }
        let idle = Life(lives + 1, loop)
        let relay = Relay(
            loop: loop, log: SimulatedLog(self, idle, storage), sender: Sender(self, idle),
            configuration: plan.configuration, wallClock: clock, seed: 1)
        do {
            for line in try await relay.recover() { violated(.damage, line) }
        } catch {
            violated(.fold, "the log cannot be read again: \(error)")
            return
        }
        for (_, model) in reference.models.sorted(by: { $0.key < $1.key }) {
            let key = ActivityKey(tenant: model.tenant, id: Plan.identifier(model.id))
            let one = await running.activity(key)
            let other = await relay.activity(key)
            if one?.version != other?.version || one?.seq != other?.seq
                || one?.state.document.root["n"]?.integer
                    != other?.state.document.root["n"]?.integer
            {
                violated(.fold, "\(model.id) of \(model.tenant.name) is rebuilt differently")
            }
        }
    }
}
