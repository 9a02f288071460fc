import TomboloJSON

/// The record that Apple has accepted a push of an upstream (one app in one environment).
///
/// It is written once. From then on, also after restarts, a token that Apple refuses for its topic
/// or environment is wrong by itself.
struct UpstreamRecord: Hashable, Sendable {
    var tenant: TenantID
    var app: String
    var environment: APNsEnvironment

    /// The record's number. It is a hash of the name, because the configuration's order may change.
    private var number: Int64 {
        var hash = StableHash()
        for part in [tenant.name.rawValue, app, environment.name] { hash.combine(part.utf8) }
        return Int64(hash.value >> 20)
    }

    var record: Record {
        Record(space: .upstream, number: number) { writer in
            writer.member("tenant", tenant.name.rawValue)
            writer.member("app", app)
            writer.member("environment", environment.name)
        }
    }

    /// Returns nil if the bytes are not such a record.
    init?(record bytes: [UInt8]) {
        guard let view = try? JSONView.stored(bytes),  // nil reports damage
            let tenant = view["tenant"]?.string.flatMap(Identifier.init),
            let app = view["app"]?.string,
            let environment = view["environment"]?.string.flatMap(APNsEnvironment.init(name:))
        else { return nil }
        self.tenant = TenantID(tenant)
        self.app = app
        self.environment = environment
    }

}
