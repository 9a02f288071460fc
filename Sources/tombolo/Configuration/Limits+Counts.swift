import TomboloCore

extension Limits {
    /// The limits that count what the relay keeps: their names in the configuration, and how far
    /// they go.
    var counts: [(name: String, path: WritableKeyPath<Limits, Int>, most: Int64)] {
        [
            ("activities", \.runningMax, 10_000_000),
            ("activities_per_tenant", \.runningPerTenantMax, 10_000_000),
            ("ended_activities", \.endedMax, 10_000_000),
            ("cards", \.cardsMax, 20_000_000),
            ("devices", \.devicesMax, 10_000_000),
            ("devices_per_tenant", \.devicesPerTenantMax, 10_000_000),
            ("idempotency_keys", \.idempotencyKeysMax, 1_000_000_000),
            ("activities_per_user", \.runningPerRecipientMax, 2_000),
            ("cards_per_device", \.cardsPerDeviceMax, 10_000),
            ("devices_per_user", \.devicesPerUserMax, 10_000),
        ]
    }

    /// Reads those of them that the configuration has.
    mutating func readCounts(_ reader: inout FieldReader) {
        for (name, path, most) in counts {
            guard let count = reader.integer(name, in: 1...most) else { continue }
            self[keyPath: path] = Int(count)
        }
    }
}
