extension UpstreamRecord {
    init(_ app: CoreConfiguration.App) {
        tenant = app.tenant
        self.app = app.id
        environment = app.environment
    }

    /// Restores that an upstream's tokens are right. Returns a text if the record is damaged.
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
