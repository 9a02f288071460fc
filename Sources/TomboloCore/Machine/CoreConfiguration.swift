/// The operator's configuration, checked before the core gets it.
package struct CoreConfiguration: Sendable {
    /// One app in one environment; its index in `apps` is the number of its upstream.
    package struct App: Hashable, Sendable {
        package var tenant: TenantID
        /// The bundle id.
        package var id: String
        package var environment: APNsEnvironment
        /// False if the endpoint is Apple's: class `lab` is for simulators and stand-ins.
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

    /// Most apps: each destination and each push stores an upstream's number in one byte.
    package static let appsMax = 256

    package var apps: [App]
    package var budgets = Budgets()
    package var limits = Limits()
    /// The log's room for facts, which tenants share; nil: unlimited.
    package var factRoom: FactRoom?
    /// The machine's time zones; nil: none is known.
    package var zones: (any TimeZoneSource)?

    package init(apps: [App]) { self.apps = apps }

    /// The app of an upstream.
    subscript(upstream: UpstreamNumber) -> App { apps[Int(upstream.rawValue)] }

    /// The upstream of an app. Without `environment`: the first one of the app.
    package func upstream(
        tenant: TenantID, app: String, environment: APNsEnvironment?
    ) -> UpstreamNumber? {
        apps.firstIndex {
            $0.tenant == tenant && $0.id == app
                && (environment == nil || $0.environment == environment)
        }.map { UpstreamNumber(Int32($0)) }
    }

    /// The app if none is named: the tenant's, if it has only one.
    package func onlyApp(of tenant: TenantID) -> String? {
        let ids = Set(apps.filter { $0.tenant == tenant }.map(\.id))
        return ids.count == 1 ? ids.first : nil
    }
}
