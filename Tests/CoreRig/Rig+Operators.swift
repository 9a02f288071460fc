import Testing
package import TomboloCore
import TomboloJSON

// What operators and phones do, and what the books say.

extension Rig {
    package func ledgers(_ id: String = "cat") -> [LedgerView] {
        core.ledgers(of: ActivityKey(tenant: Rig.tenant, id: Identifier(id)!), now: now) ?? []
    }

    /// A page of the list of activities, as a reader gets it.
    package func activities(
        after: Identifier? = nil, limit: Int
    ) -> (views: [ActivityView], next: Identifier?) {
        let filter = ActivityFilter(tenant: Rig.tenant, status: nil, type: nil, user: nil)
        var page = IDPage(after: after, limit: limit)
        while page.place != nil { core.collect(&page, filter) }
        return core.views(page, filter, now: now)
    }

    /// Answers the pause's number.
    package mutating func pause(_ body: String) -> Int64 {
        guard let request = try? PauseRequest(reading: Self.json(body)) else {  // a test's own text
            Issue.record("\(body)")
            return 0
        }
        step(.pause(.pause(request), Rig.tenant, Ticket(1_000_000)))
        return core.pauses(of: Rig.tenant).last?.number ?? 0
    }

    package mutating func resume(_ number: Int64) {
        step(.pause(.resume(number), Rig.tenant, Ticket(1_000_001)))
    }

    package mutating func presence(
        _ phase: PresenceReport.Phase, _ device: String = "phone",
        cause: PresenceReport.Cause? = nil
    ) {
        tell(.presence(PresenceReport(phase: phase, cause: cause)), device)
    }
}
