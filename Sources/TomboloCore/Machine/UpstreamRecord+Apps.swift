extension UpstreamRecord {
    init(_ app: CoreConfiguration.App) {
        tenant = app.tenant
        self.app = app.id
        environment = app.environment
    }

    /// Restores an upstream from its record. Returns what is wrong with the record.
    static func adopt(
        _ record: Record, _ upstreams: inout UpstreamTable, of apps: [CoreConfiguration.App]
    ) -> [String] {
        guard let value = record.value else { return [] }
        guard let known = UpstreamRecord(record: value) else {
            return ["the record of upstream number \(record.number) cannot be read"]
        }
        for (upstream, app) in zip(upstreams.numbers, apps) where UpstreamRecord(app) == known {
            upstreams[upstream].noteRightToken()
        }
        return []
    }
}
