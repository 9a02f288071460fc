import TestSupport
import TomboloCore
import TomboloLoop
import TomboloRelay

// Private channels: one activity's cards listen together.

extension World {
    /// Looks at a broadcast as it is handed over.
    func checkBroadcast(
        _ push: Push, _ content: PushContent, _ channel: Broadcast, _ key: CardKey, _ life: Life
    ) {
        let outbox = outboxes[key] ?? Outbox(type: Plan.type(of: key.reference.id.rawValue))
        outboxes[key] = outbox
        func check(_ holds: Bool, _ promise: Promise, _ detail: @autoclosure () -> String) {
            guard !holds else { return }
            violated(promise, "\(push.token) \(key.reference.text) \(push.event): \(detail())")
        }
        check(push.payload.count <= 4_096, .size, "\(push.payload.count) bytes")
        let tenant = plan.configuration.apps[Int(push.upstream.rawValue)].tenant
        check(
            content.tenant == tenant.name.rawValue, .tenants,
            "\(content.tenant)'s state on \(tenant.name)'s channel")
        if let origin = reference.origins[content.mark] {
            check(origin.version >= outbox.floor, .order, "version \(origin.version)")
            outbox.floor = max(outbox.floor, origin.version)
            let now = (origin.activity, origin.incarnation)
            let carried = channel.isNamed ? now : channel.carries ?? now
            check(
                carried == (origin.activity, origin.incarnation), .channels,
                "it carries \(carried.0.rawValue)~\(carried.1)")
            channel.carries = carried
        } else {
            check(false, .shownIsDurable, "mark \(content.mark) is not in the log")
        }
        checkBundle(content, "\(push.token) \(key.reference.text)", life)
        for pause in pauses where pause.holds(tenant, content.activity) && !pause.alertsOnly {
            check(false, .paused, "pause \(pause.number) holds")
        }
        let sent = Outbox.Sent(
            at: loop.now, life: life.number, push: push.id, event: push.event,
            priority: push.priority, timestamp: content.timestamp, mark: content.mark,
            frame: content.frame, value: content.value, alert: content.alert,
            bundle: content.bundle?.play, mayShare: false,
            // Where nothing is kept, nothing tells frames from states.
            isFrame: push.expiration == 0 && channel.keeps != .nothing, isStale: content.isStale,
            token: push.token, isFarAhead: isFarAhead(content.timestamp))
        for (promise, detail) in outbox.faults(sent) { check(false, promise, detail) }
        outbox.sends.append(sent)
    }

    /// Somebody deletes channels at Apple, until the heal; nothing tells the relay before it sends
    /// there.
    func loseChannels() {
        guard !isHealed, faults.contains(FaultSet(.lostChannels)) else { return }
        let there = apple.channels.values.filter { !$0.isNamed && !$0.isDeleted }
            .sorted { $0.id < $1.id }
        if !there.isEmpty, dice.happens(.losses, oneIn: 3) {
            let one = dice.pick(.losses, there)
            note(.command, who: -1, 0, 0, "channel \(one.id) is lost at Apple")
            removeChannel(one.id)
        }
        after(dice.time(.losses, 1_000...300_000)) { [self] in loseChannels() }
    }

    /// A start names no channel that the relay knows to be gone.
    func checkNamesLiving(_ id: String?, _ name: String, _ life: Life) {
        guard let id, let channel = apple.channels[id], channel.toldGoneIn == life.number else {
            return
        }
        violated(.channels, "\(name) is to listen on \(id), which is known to be gone")
    }

    /// A start that names a channel: its card listens there, and what has gone there before is lost
    /// to it.
    func listen(_ card: Card, on id: String, _ phone: Phone) {
        guard let channel = apple.channels[id] else {
            violated(.channels, "\(card.reference.text) listens on \(id), which is not there")
            return
        }
        let name = (reference.origins[card.mark]?.activity, card.reference.incarnation)
        if let carried = channel.carries, name.0 != nil,
            carried.activity != name.0 || carried.incarnation != name.1
        {
            violated(.channels, "\(card.reference.text) listens on another's \(id)")
        }
        if let activity = name.0 { channel.carries = (activity, name.1) }
        card.channel = id
        card.isRegistered = true
        card.registeredSince = loop.now
        // Nothing ever comes.
        if channel.isDeleted { card.isDismissed = true }
        // An end may have the state of the start.
        guard let newest = channel.newest, newest.mark != card.mark || channel.hasEnded else {
            return
        }
        card.hasLostUpdate = true
        card.hasLostEnd = channel.hasEnded
    }

    /// The books of what goes to a card: its own, or its channel's.
    func outbox(of card: Card, _ phone: Phone) -> Outbox? {
        let own = outboxes[key(phone, card.reference)]
        guard let upstream = card.channel.flatMap({ apple.channels[$0]?.upstream }) else {
            return own
        }
        // A channel is one for all cards of an incarnation.
        let name = ActivityReference(
            id: card.reference.id, incarnation: card.reference.incarnation)
        return outboxes[Apple.key(upstream, name)] ?? own
    }
}
