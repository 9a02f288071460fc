import TestSupport
import TomboloCore
import TomboloLoop
import TomboloRelay

/// A broadcast channel at Apple: whoever listens on it gets what is sent there.
final class Broadcast {
    let id: String
    let upstream: UpstreamNumber
    /// Whose cards listen on it; a channel is nobody else's while they may be there.
    var carries: (activity: ActivityNumber, incarnation: Int64)?
    /// The newest state that went there.
    var newest: PushContent?
    var hasEnded = false
    let keeps: Channel.Storage
    /// A producer has named it.
    var isNamed = false
    var isDeleted = false
    /// The life of the relay that was told so.
    var toldGoneIn: Int?
    /// Of a named one: what has gone there, one after the other.
    var carriedNow: CardKey?
    var carriedBefore: Set<CardKey> = []

    init(_ id: String, _ upstream: UpstreamNumber, _ keeps: Channel.Storage) {
        self.id = id
        self.upstream = upstream
        self.keeps = keeps
    }
}

/// One life's way to have channels made.
final class ChannelOffice: ChannelService, @unchecked Sendable {
    // Sendable: used on the virtual loop's thread only.
    private unowned let world: World
    private unowned let life: Life

    init(_ world: World, _ life: Life) {
        self.world = world
        self.life = life
    }

    func create(
        _ storage: Channel.Storage, in upstream: UpstreamNumber
    ) async throws(ChannelFailure) -> String {
        await world.pause(world.dice.time(.network, 5...800))
        let isMade = !world.strikes(.unavailable, .network, oneIn: 3)
        guard isMade || world.dice.happens(.network, oneIn: 2), !life.isDead else {
            throw .refused(status: 503, reason: "ServiceUnavailable")
        }
        // Apple's 10,000, in a small world.
        if world.faults.contains(FaultSet(.broadcasts)),
            world.apple.channelCount(in: upstream) >= world.plan.channelsMax
        {
            throw .refused(status: 400, reason: "CannotCreateChannelConfig")
        }
        world.numbers += 1
        let id = "chan" + Phone.hex(UInt64(world.numbers), digits: 8)
        world.apple.channels[id] = Broadcast(id, upstream, storage)
        // One that was made and not heard of is nobody's.
        if !isMade { throw .unknown("no answer") }
        return id
    }

    func read(_ id: String, in upstream: UpstreamNumber) async throws(ChannelFailure) -> Channel
        .Storage?
    {
        world.apple.channels[id].flatMap { $0.isDeleted ? nil : $0.keeps }
    }

    func delete(_ id: String, in upstream: UpstreamNumber) async throws(ChannelFailure) {
        world.apple.channels[id]?.isDeleted = true
    }

    func list(in upstream: UpstreamNumber) async throws(ChannelFailure) -> [String] {
        world.apple.channels.values.filter { $0.upstream == upstream && !$0.isDeleted }.map(\.id)
            .sorted()
    }
}

extension Apple {
    /// A destination that is no phone.
    static func key(_ upstream: UpstreamNumber, _ reference: ActivityReference) -> CardKey {
        CardKey(phone: -1 - Int(upstream.rawValue), installation: 0, reference: reference)
    }

    /// What a broadcast is for, as its bytes say it.
    func keyOfBroadcast(_ push: Push) -> CardKey? {
        guard let content = PushContent(push), let channel = channels[push.token] else {
            return nil
        }
        let incarnation = world.reference.origins[content.mark]?.incarnation
        return Self.key(
            channel.upstream,
            ActivityReference(
                id: Plan.identifier(content.activity),
                incarnation: incarnation ?? channel.carries?.incarnation ?? 1))
    }

    /// Looks at a broadcast as the relay hands it over. False: it is for nobody.
    func admitBroadcast(_ push: Push, _ life: Life) -> Bool {
        guard let content = PushContent(push), let channel = channels[push.token],
            let key = keyOfBroadcast(push), channel.upstream == push.upstream
        else {
            world.violated(.tenants, "a broadcast that is for nobody: \(push.token)")
            return false
        }
        if channel.isNamed { world.checkNamed(push, channel, key, life) }
        world.checkBroadcast(push, content, channel, key, life)
        world.note(
            .push, who: -1, content.mark, Int64(push.priority),
            "\(push.event) \(key.reference.text) on \(push.token) "
                + "ts=\(content.timestamp - 1_800_000_000)\(content.shown) life=\(life.number)")
        return true
    }

    func channelCount(in upstream: UpstreamNumber) -> Int {
        channels.values.count { $0.upstream == upstream && !$0.isDeleted }
    }

    /// To every card that listens; for a phone that is away Apple keeps the newest.
    func deliverBroadcast(_ push: Push) {
        guard let channel = channels[push.token], let content = PushContent(push) else { return }
        channel.newest = content
        if push.event == .end { channel.hasEnded = true }
        for phone in world.phones {
            for card in phone.sortedCards where card.channel == push.token {
                let delay = world.dice.time(.network, 10...300)
                world.after(delay) { [self] in
                    guard phone.cards[card.reference] === card else { return }
                    if phone.isOnline {
                        world.receive(push, phone, card)
                    } else if push.expiration > 0 {
                        card.stored = push
                    } else {
                        card.hasLostUpdate = true
                        if push.event == .end { card.hasLostEnd = true }
                    }
                }
            }
        }
    }
}
