import TomboloJSON
import TomboloLoop

/// The phones of a simulator. Pushes and time go to the phones; the phones' effects go to the
/// gateway (tokens), the relay (reports) and the output (lines).
final class PhoneFleet: PushReceiver, @unchecked Sendable {
    // Sendable: used on the loop's thread only.

    private(set) var phones: [Phone]
    private let clients: [PhoneClient]
    private let gateway: Gateway
    private let loop: any Loop
    private let wallClock: @Sendable () -> WallInstant
    private let line: @Sendable ([UInt8]) -> Void
    /// Index of the phone to which each token belongs. The gateway refuses retired tokens.
    private var owners: [String: Int] = [:]
    private let parking: Parking
    private var awaited: WallInstant?
    /// File for the phones' cards; nil means that cards are lost when the simulator ends.
    private let kept: KeptFile?
    /// True if the cards have changed since the file was written.
    private var hasUnkept = false

    /// Longest wait. The wall clock may be changed meanwhile, so it is read again after this time.
    private static let waitMax: Duration = .seconds(30)
    /// Changed cards are written to the file after about this time.
    private static let keepWithin: Duration = .milliseconds(200)

    /// `clients` has one client for each phone, in the same order.
    init(
        _ phones: [Phone], clients: [PhoneClient], gateway: Gateway, kept: KeptFile? = nil,
        loop: any Loop,
        wallClock: @escaping @Sendable () -> WallInstant,
        line: @escaping @Sendable ([UInt8]) -> Void
    ) {
        self.phones = phones
        self.clients = clients
        self.gateway = gateway
        self.kept = kept
        self.loop = loop
        self.wallClock = wallClock
        self.line = line
        parking = Parking(loop)
        for (index, client) in clients.enumerated() {
            client.taps.ended = { [weak self] number, outcome in
                self?.phones[index].tapEnded(number, outcome)
            }
            client.fetcher.ended = { [weak self] key, outcome in
                self?.change(index) { $0.widgetFetched(key, outcome, at: $1) }
            }
            client.fetcher.snapped = { [weak self] number, family, entry in
                self?.phones[index].gallerySnapshot(number, family, entry)
            }
        }
    }

    func received(_ push: AcceptedPush, at now: WallInstant) {
        guard let index = owners[push.token] else { return }
        carryOut(phones[index].receive(push, at: now), of: index, at: now)
        if let deadline = phones[index].deadline, deadline < awaited ?? .distantFuture {
            parking.unpark()
        }
    }

    func received(_ broadcast: AcceptedBroadcast, at now: WallInstant) {
        for index in phones.indices {
            carryOut(phones[index].receive(broadcast, at: now), of: index, at: now)
        }
        parking.unpark()
    }

    /// Changes a phone by an action of its user, and carries out the effects.
    func perform(
        on name: String, _ change: (inout Phone, WallInstant) -> [PhoneEffect]
    ) {
        guard let index = phones.firstIndex(where: { $0.configuration.name == name }) else {
            return
        }
        self.change(index, change)
    }

    private func change(
        _ index: Int, _ change: (inout Phone, WallInstant) -> [PhoneEffect]
    ) {
        let now = wallClock()
        carryOut(change(&phones[index], now), of: index, at: now)
        parking.unpark()
    }

    /// Switches the phones on and advances their time until the task is cancelled.
    func run() async throws {
        let now = wallClock()
        for index in phones.indices { carryOut(phones[index].boot(), of: index, at: now) }
        try restore(at: now)
        defer { keep() }
        while true {
            let now = wallClock()
            for index in phones.indices {
                carryOut(phones[index].advance(to: now), of: index, at: now)
            }
            awaited = phones.compactMap(\.deadline).min()
            let longest = hasUnkept ? Self.keepWithin : Self.waitMax
            let wait = min(longest, awaited.map { $0 - now } ?? longest)
            if await parking.park(until: loop.now + wait) == .cancelled {
                throw CancellationError()
            }
            keep()
        }
    }

    private func restore(at now: WallInstant) throws {
        guard let kept, let bytes = try kept.read() else { return }
        let file: JSONDocument
        do { file = try JSONDocument(bytes) } catch {
            throw SimulatorError(
                "\(kept.path) cannot be read: \(error.message); delete it to begin without cards")
        }
        for one in file.root.elements {
            guard
                let index = phones.firstIndex(where: {
                    $0.configuration.name == one["phone"]?.string
                })
            else { continue }
            carryOut(phones[index].restore(one, at: now), of: index, at: now)
        }
    }

    private func keep() {
        guard let kept, hasUnkept else { return }
        var writer = JSONWriter()
        writer.array(of: phones) { $1.keep(to: &$0) }
        // If writing fails, the phones go on, and the write is tried again later.
        hasUnkept = (try? kept.write(writer.bytes, mode: 0o600)) == nil
    }

    private func carryOut(_ effects: [PhoneEffect], of index: Int, at now: WallInstant) {
        let configuration = phones[index].configuration
        clients[index].isOnline = phones[index].isOnline
        var (drawn, changed): (Set<Int>, Set<Int>) = ([], [])
        for effect in effects {
            if case .drawn(let card) = effect { drawn.insert(card.number) }
            if case .changed(let card, _) = effect { changed.insert(card.number) }
        }
        if kept != nil, !effects.isEmpty, !hasUnkept {
            hasUnkept = true
            parking.unpark()
        }
        for effect in effects {
            switch effect {
            case .tokenIssued(let token, let purpose),
                .tokenIssuedSilently(let token, let purpose):
                owners[token] = index
                gateway.issue(
                    token, topic: configuration.topic(of: purpose),
                    limit: configuration.budgetClass == .lab ? nil : .standard, at: now)
            case .tokenRetired(let token, _, let end):
                owners[token] = nil
                gateway.retire(token, end)
            case .moved, .touched, .statusBar, .frequentUpdatesAllowed, .widgetFetch,
                .galleryOpened:
                break
            case .widgetDrawn(let widget):
                line(SimulatorLine.widget(phone: configuration.name, widget, at: now))
            case .tapped(let tap):
                line(SimulatorLine.tapped(phone: configuration.name, tap))
            case .changed(let card, let change):
                let isDrawn = drawn.contains(card.number) || !card.isBehind
                line(
                    SimulatorLine.island(
                        phone: configuration.name, card, change, isDrawn: isDrawn, at: now))
            case .drawn(let card):
                // If the card changed now, the line for the change also reports the picture.
                guard !changed.contains(card.number) else { break }
                line(
                    SimulatorLine.island(
                        phone: configuration.name, card, nil, isDrawn: true, at: now))
            case .reloaded(let surface, let count):
                line(
                    SimulatorLine.reloaded(
                        phone: configuration.name, surface, count: count, at: now))
            case .ignored(let push):
                line(SimulatorLine.ignored(phone: configuration.name, push))
            }
            clients[index].note(effect, at: now)
        }
    }
}
