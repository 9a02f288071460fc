extension IdempotencyIndex {
    /// The refusal of one more key; nil if the tenant may have it. Forgets old keys if necessary.
    mutating func refusal(of tenant: TenantID, _ limits: Limits, now: Instant) -> Refusal? {
        guard refusal(of: tenant, limits) != nil else { return nil }
        forget(before: now - limits.idempotency)
        return refusal(of: tenant, limits)
    }

    private func refusal(of tenant: TenantID, _ limits: Limits) -> Refusal? {
        let remedy = "send the request without one"
        let own = count(of: tenant)
        if own >= limits.idempotencyKeysPerTenantMax {
            return .full(
                "\(own) idempotency keys of a day are kept", "idempotency_keys_per_tenant", remedy)
        }
        guard count >= limits.idempotencyKeysMax else { return nil }
        return .full(
            "the relay keeps the idempotency keys of a day, and has as many as it may",
            "idempotency_keys", remedy)
    }
}
