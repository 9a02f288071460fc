/// What an operator decides. Everything in it is checked before the core sees it.
package struct CoreConfiguration: Sendable {
    /// One app in one environment; its place in `apps` is its lane.
    package struct App: Hashable, Sendable {
        package var tenant: TenantID
        /// The bundle id.
        package var id: String
        package var environment: APNsEnvironment
        /// False where the endpoint is Apple's: class `lab` is for simulators and stand-ins.
        package var allowsLab: Bool

        package init(
            tenant: TenantID, id: String, environment: APNsEnvironment, allowsLab: Bool
        ) {
            self.tenant = tenant
            self.id = id
            self.environment = environment
            self.allowsLab = allowsLab
        }
    }

    /// The number of a lane has a byte in each destination and in each push.
    package static let appsMax = 256

    package var apps: [App]
    package var budgets = Budgets()
    package var limits = Limits()
    /// What the log keeps of facts, so that tenants share it; nil: all of them.
    package var factRoom: FactRoom?
    /// The machine's time zones; nil: none is known.
    package var zones: (any TimeZoneSource)?

    package init(apps: [App]) { self.apps = apps }

    /// The app of a lane.
    subscript(lane: LaneNumber) -> App { apps[Int(lane.rawValue)] }

    /// The lane of an app. Without `environment`: the first there is.
    package func lane(
        tenant: TenantID, app: String, environment: APNsEnvironment?
    ) -> LaneNumber? {
        apps.firstIndex {
            $0.tenant == tenant && $0.id == app
                && (environment == nil || $0.environment == environment)
        }.map { LaneNumber(Int32($0)) }
    }

    /// The app to take where none is named: the tenant's, if it has one only.
    package func onlyApp(of tenant: TenantID) -> String? {
        let ids = Set(apps.filter { $0.tenant == tenant }.map(\.id))
        return ids.count == 1 ? ids.first : nil
    }
}
