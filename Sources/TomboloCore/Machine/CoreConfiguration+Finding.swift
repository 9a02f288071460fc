extension CoreConfiguration {
    /// The upstream of a registration's app. Throws if the app is not configured.
    func upstream(
        of registration: DeviceRegistration, tenant: TenantID
    ) throws(Refusal) -> UpstreamNumber {
        let app = registration.app ?? onlyApp(of: tenant)
        if let app,
            let upstream = upstream(
                tenant: tenant, app: app, environment: registration.environment)
        {
            return upstream
        }
        let name = app.map { "app \"\($0)\"" } ?? "app"
        let world = registration.environment.map { " in \($0.name)" } ?? ""
        let other = app.flatMap { upstream(tenant: tenant, app: $0, environment: nil) }
        let cure =
            other == nil
            ? "; name one of the configuration's apps"
            : ", only for the other environment; what Xcode installs is of the sandbox. Else add an "
                + "entry of that environment to the configuration's apps"
        throw Refusal(
            .unknownApp, "no \(name) is configured\(world)\(cure)",
            errors: [FieldError(pointer: "/app", message: "is not configured")])
    }

    /// The upstream of a device; nil if its app is not configured any more.
    func upstream(of device: Device) -> UpstreamNumber? {
        // The error only says the same as nil.
        try? upstream(of: device.registration, tenant: device.key.tenant)
    }

    func upstream(of channel: Channel) -> UpstreamNumber? {
        upstream(
            tenant: channel.tenant, app: channel.app, environment: channel.environment)
    }

    /// A token with its upstream; nil if the device's app is not configured any more.
    func tokenPlace(of value: PushToken, _ device: Device) -> TokenPlace? {
        upstream(of: device).map { TokenPlace(upstream: $0, value: value) }
    }

    /// The app of a start; empty if the tenant has none. Throws if the app is unknown or not clear.
    func app(of start: Start, tenant: TenantID) throws(Refusal) -> String {
        let known = apps.filter { $0.tenant == tenant }
        guard let app = start.app else {
            if let only = onlyApp(of: tenant) { return only }
            if known.isEmpty { return "" }
            throw Refusal(
                .unknownApp, "several apps are configured; name one in \"app\"",
                errors: [FieldError(pointer: "/app", message: "is missing")])
        }
        if known.contains(where: { $0.id == app }) { return app }
        let nearest = nearestName(to: app, among: known.map(\.id))
        throw Refusal(
            .unknownApp,
            "no app \"\(app)\" is configured" + didYouMean(nearest)
                + "; apps are added in the configuration file, under \"apps\"",
            errors: [FieldError(pointer: "/app", message: "is not configured")])
    }

    /// The named app; for nil the tenant's only one. Throws if the app is unknown or not clear.
    func app(_ named: String?, of tenant: TenantID) throws(Refusal) -> String {
        let known = apps.filter { $0.tenant == tenant }.map(\.id)
        guard let app = named ?? onlyApp(of: tenant) else {
            let cause =
                known.isEmpty
                ? "no app is configured; apps are added in the configuration file, under \"apps\""
                : "several apps are configured; name one in \"app\""
            throw Refusal(
                .unknownApp, cause, errors: [FieldError(pointer: "/app", message: "is missing")])
        }
        guard known.contains(app) else {
            let nearest = nearestName(to: app, among: known)
            throw Refusal(
                .unknownApp,
                "no app \"\(app)\" is configured"
                    + didYouMean(nearest),
                errors: [FieldError(pointer: "/app", message: "is not configured")])
        }
        return app
    }

    func zone(_ name: String) -> TimeZoneRules? { zones?.rules(of: name) }
}
