package import TomboloCore
import TomboloLoop

// Operators' commands and queries about pauses, decisions and budgets.

extension Relay {
    /// Ends all running activities that match, in pieces, with other work in between. If the log is
    /// behind, waits for it.
    package func endMany(_ request: EndMany) async -> Answer {
        var request = request
        request.through = read { core, _ in core.newestActivity }
        var all: [Accepted] = []
        var triesLeft = Self.endTriesMax
        guard var places = await nextPiece(of: request, from: 0) else { return .acceptedAll([]) }
        while true {
            request.places = places
            switch await ask({ .endMany(request, $0) }) {
            case .acceptedAll(let ended):
                all += ended
                // Some could not be ended because the log was behind: try this piece again.
                guard ended.isEmpty else { continue }
                let next = await nextPiece(of: request, from: places.upperBound)
                guard let next else { return .acceptedAll(all) }
                places = next
            case .refused(let refusal)
            where refusal.code == .overloaded && !all.isEmpty && triesLeft > 0:
                triesLeft -= 1
                // If the task is cancelled, its client is gone and must ask again for the rest.
                guard (try? await loop.sleep(for: Self.endPause)) != nil else {
                    return .refused(refusal)
                }
            case .refused(let refusal):
                // These activities cannot be ended with this request. The answer lists those that
                // have ended.
                let isWhole = ![.stopping, .logFull, .logSilent, .logUnavailable].contains(
                    refusal.code)
                return all.isEmpty || !isWhole ? .refused(refusal) : .acceptedAll(all)
            case let other: return other
            }
        }
    }

    /// The next piece of activities to examine; nil at the end. Other work runs before.
    func nextPiece(of request: EndMany, from place: Int) async -> Range<Int>? {
        if place > 0 { await letOthersGo() }
        return read { core, _ in core.piece(of: request, from: place) }
    }

    private static let endTriesMax = 100
    private static let endPause = Duration.milliseconds(100)

    /// Begins or ends a pause. Returns when the change is durable.
    package func submitPauseCommand(
        _ command: PauseCommand, of tenant: TenantID, by key: AskingKey = .unknown
    ) async -> Answer {
        await ask { .pause(command, tenant, $0, by: key) }
    }

    /// A tenant's active pauses, oldest first.
    package func pauses(of tenant: TenantID) -> [Pause] {
        read { core, _ in core.pauses(of: tenant) }
    }

    /// How much is left of the budgets of live destinations, and the grants of the budget classes.
    package func budgets(
        of tenant: TenantID, activity: Identifier?, device: Identifier?, after: BudgetPlace?,
        limit: Int
    ) -> (classes: Budgets, destinations: [BudgetView]) {
        read { core, now in
            (
                core.configuration.budgets,
                core.budgets(
                    of: tenant, activity: activity, device: device, after: after, limit: limit,
                    now: now)
            )
        }
    }

    /// Sends the newest state again to destinations with matching dead letters, in pieces. If the
    /// answer is not `stored`, some may have been retried; a further retry handles the rest.
    package func retry(_ query: DeadLetterQuery, deed: Deed? = nil) async -> Answer {
        var all = Stored(.updated)
        var deed = deed
        for serials in core.pieces(of: query) {
            if all.count + all.unreachable > 0 { await letOthersGo() }
            var piece = query
            piece.serials = serials
            let answer = await ask(deed: deed) { .retry(piece, $0) }
            guard case .stored(let stored) = answer else { return answer }
            all.add(stored)
            deed = nil
        }
        return .stored(all)
    }
}
