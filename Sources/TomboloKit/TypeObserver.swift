#if canImport(ActivityKit) && !targetEnvironment(macCatalyst)
internal import ActivityKit
internal import Foundation
internal import TomboloContract
internal import TomboloWidgets

/// Observes the cards of one type, and passes what happens to the contract.
@MainActor final class TypeObserver<A: ActivityAttributes & SendableMetatype>: ObservedType {
    private unowned let runner: AppRunner
    private let name: @MainActor (A) -> String?
    /// Cards that the app has seen, by ActivityKit's id.
    private var cards: [String: Activity<A>] = [:]
    /// The type's name in pushes.
    private let type = String(describing: A.self)

    init(_ runner: AppRunner, name: @escaping @MainActor (A) -> String?) {
        (self.runner, self.name) = (runner, name)
    }

    private func seen(_ card: Activity<A>) -> SeenCard {
        cards[card.id] = card
        return SeenCard(id: card.id, name: name(card.attributes))
    }

    func readCards() -> [SeenCard] { Activity<A>.activities.map(seen) }

    /// Awaits cards and start tokens for as long as the process lives.
    func begin() {
        Task { for await card in Activity<A>.activityUpdates { handle(.appeared(seen(card))) } }
        guard #available(iOS 17.2, *) else { return }
        Task { for await token in Activity<A>.pushToStartTokenUpdates { note(token) } }
    }

    /// Reads the token now and 2 s later, as it may be nil right after a launch.
    func readStartToken() {
        guard #available(iOS 17.2, *) else { return }
        note(Activity<A>.pushToStartToken)
        Task {
            try await Task.sleep(for: .seconds(2))
            note(Activity<A>.pushToStartToken)
        }
    }

    private func note(_ token: Data?) { handle(.startToken(type: type, token?.hex ?? "")) }

    private func handle(_ event: AppEvent) { runner.handle(event) }

    func observe(_ id: String) {
        guard let card = cards[id] else { return }
        let note = { [runner] in runner.handle(.updateToken(card: id, $0)) }
        note(card.pushToken?.hex ?? "")
        report(card)
        Task { for await token in card.pushTokenUpdates { note(token.hex) } }
        Task { for await _ in card.activityStateUpdates { report(card) } }
        Task { for await _ in card.contentUpdates { report(card) } }
    }

    /// Reports phase and state together: only the newest report of a card is sent.
    private func report(_ card: Activity<A>) {
        var word = CardWord(.init(card.activityState))
        // A state that does not encode is reported without its value.
        word.receivedState = (try? JSONEncoder().encode(card.content.state)).map(Array.init)
        word.shownAt = Date.now.rfc3339
        handle(.word(card: card.id, word))
    }

    func end(_ id: String) {
        Task { await Self.endNow(id) }
    }

    @concurrent private nonisolated static func endNow(_ id: String) async {
        for card in Activity<A>.activities where card.id == id {
            await card.end(nil, dismissalPolicy: .immediate)
        }
    }
}

extension CardWord.Phase {
    /// A state that a later system adds counts as active.
    init(_ state: ActivityState) {
        let known: [(ActivityState, Self)] = [
            (.ended, .ended), (.dismissed, .dismissed), (.stale, .stale),
        ]
        self = known.first { $0.0 == state }?.1 ?? .active
    }
}
#endif
