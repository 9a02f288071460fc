package import TomboloCore

// What an operator looks at first.

extension Relay {
    /// One look at all running activities of a tenant.
    package func overview(of tenant: TenantID) -> Overview {
        read { core, _ in core.overview(of: tenant) }
    }

    /// A page of a tenant's devices; whoever shows them redacts their tokens.
    package func devices(
        of tenant: TenantID, after: Identifier?, limit: Int
    ) -> (views: [DeviceView], next: Identifier?) {
        read { core, now in core.deviceViews(of: tenant, after: after, limit: limit, now: now) }
    }

    /// A tenant's registered types.
    package func types(of tenant: TenantID) -> [TypeView] {
        read { core, _ in core.typeViews(of: tenant) }
    }
}
