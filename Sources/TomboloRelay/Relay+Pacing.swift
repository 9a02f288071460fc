package import TomboloCore
import TomboloLoop

// What operators ask of pacing: pauses, decisions, budgets.

extension Relay {
    /// One end for every running activity that matches, a piece of them at a time: others have
    /// their turn between. A log that is behind is waited for.
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
                // What a log that was behind has left of the piece comes with the next try.
                guard ended.isEmpty else { continue }
                let next = await nextPiece(of: request, from: places.upperBound)
                guard let next else { return .acceptedAll(all) }
                places = next
            case .refused(let refusal)
            where refusal.code == .overloaded && !all.isEmpty && triesLeft > 0:
                triesLeft -= 1
                // Cancelled: the client is gone, and asks again for what is left.
                guard (try? await loop.sleep(for: Self.endPause)) != nil else {
                    return .refused(refusal)
                }
            case .refused(let refusal):
                // Those that cannot end so are left. The answer lists those that did.
                let isWhole = ![.stopping, .logFull, .logSilent].contains(refusal.code)
                return all.isEmpty || !isWhole ? .refused(refusal) : .acceptedAll(all)
            case let other: return other
            }
        }
    }

    /// The next places to look at. Others have their turn before.
    func nextPiece(of request: EndMany, from place: Int) async -> Range<Int>? {
        if place > 0 { await letOthersGo() }
        return read { core, _ in core.piece(of: request, from: place) }
    }

    private static let endTriesMax = 100
    private static let endPause = Duration.milliseconds(100)

    /// Holds something back, or lets it go; the answer comes when that is durable.
    package func submit(
        _ command: PauseCommand, of tenant: TenantID, by key: AskingKey = .unknown
    ) async -> Answer {
        await ask { .pause(command, tenant, $0, by: key) }
    }

    /// Pauses in force, oldest first.
    package func pauses(of tenant: TenantID) -> [Pause] {
        read { core, _ in core.pauses(of: tenant) }
    }

    /// The books of an activity's destinations; nil for one that is not there.
    package func ledgers(of key: ActivityKey) -> [LedgerView]? {
        read { core, now in core.ledgers(of: key, now: now) }
    }

    /// What is left of the budgets of live destinations, and the classes' grants.
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

    /// The same of widgets and controls.
    package func surfaceBudgets(
        of tenant: TenantID, device: Identifier?, limit: Int
    ) -> [SurfaceBudgetView] {
        read { core, now in
            core.surfaceBudgets(of: tenant, device: device, limit: limit, now: now)
        }
    }

    /// The newest state goes again where these were refused, a piece of them at a time. An answer
    /// that is not `stored` may leave a part of them retried: the rest is there for another retry.
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
