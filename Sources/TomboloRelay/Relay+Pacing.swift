package import TomboloCore

// What operators ask of pacing: pauses, decisions, budgets.

extension Relay {
    /// One end for every running activity that matches.
    package func endMany(_ request: EndMany) async -> Answer {
        await ask { .endMany(request, $0) }
    }

    /// Holds something back, or lets it go; the answer comes when that is durable.
    package func submit(_ command: PauseCommand, of tenant: TenantID) async -> Answer {
        await ask { .pause(command, tenant, $0) }
    }

    /// Pauses in force, oldest first.
    package func pauses(of tenant: TenantID) -> [Pause] {
        read { core, _ in core.pauses(of: tenant) }
    }

    /// The newest decisions, newest first.
    package func deliveries(
        of tenant: TenantID, activity: Identifier?, device: Identifier?, before: Int64?,
        limit: Int
    ) -> [DeliveryLog.Entry] {
        read { core, _ in
            core.deliveries(
                of: tenant, activity: activity, device: device, before: before, limit: limit)
        }
    }

    /// The books of an activity's destinations; nil for one that is not there.
    package func ledgers(of key: ActivityKey) -> [LedgerView]? {
        read { core, now in core.ledgers(of: key, now: now) }
    }

    /// What is left of the budgets of live destinations, and the classes' grants.
    package func budgets(
        of tenant: TenantID, activity: Identifier?, device: Identifier?, after: Int64, limit: Int
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

    /// The newest state goes again where these were refused.
    package func retry(_ query: DeadLetterQuery) async -> Answer { await ask { .retry(query, $0) } }
}
