/// The operator's configuration. It was checked before the core gets it.
package struct CoreConfiguration: Sendable {
    /// One app in one environment. Its index in `apps` is the number of its upstream.
    package struct App: Hashable, Sendable {
        package var tenant: TenantID
        /// The bundle id.
        package var id: String
        package var environment: APNsEnvironment
        /// True only if the app's endpoint is not Apple's: class `lab` is for simulators.
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

    /// Maximum number of apps, so that destinations and pushes store an upstream in one byte.
    package static let appsMax = 256

    package var apps: [App]
    package var budgets = Budgets()
    package var limits = Limits()
    /// How many facts the log can take, for all tenants together; nil: unlimited.
    package var factRoom: FactRoom?
    /// The time zones that the machine knows; nil: none.
    package var zones: (any TimeZoneSource)?

    package init(apps: [App]) { self.apps = apps }

    subscript(upstream: UpstreamNumber) -> App { apps[Int(upstream.rawValue)] }

    /// The upstream of an app; nil if it is not configured. If `environment` is nil: its first one.
    package func upstream(
        tenant: TenantID, app: String, environment: APNsEnvironment?
    ) -> UpstreamNumber? {
        apps.firstIndex {
            $0.tenant == tenant && $0.id == app
                && (environment == nil || $0.environment == environment)
        }.map { UpstreamNumber(Int32($0)) }
    }

    /// The tenant's app if it has exactly one; else nil.
    package func onlyApp(of tenant: TenantID) -> String? {
        let ids = Set(apps.filter { $0.tenant == tenant }.map(\.id))
        return ids.count == 1 ? ids.first : nil
    }
}
