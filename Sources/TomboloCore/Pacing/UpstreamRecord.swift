import TomboloJSON

/// The record of an upstream (one app in one environment) in the log.
///
/// It is written once Apple has taken a push there: from then on, also after restarts, a token that
/// is refused for its topic or environment is itself at fault.
struct UpstreamRecord: Hashable, Sendable {
    var tenant: TenantID
    var app: String
    var environment: APNsEnvironment

    /// Its number among the records, made from its name: the configuration's order may change.
    private var number: Int64 {
        var hash = StableHash()
        for part in [tenant.name.rawValue, app, environment.name] { hash.combine(part.utf8) }
        return Int64(hash.value >> 20)
    }

    /// The record that Apple has taken a push.
    var record: Record {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("tenant", tenant.name.rawValue)
        writer.member("app", app)
        writer.member("environment", environment.name)
        writer.endObject()
        return Record(space: .upstream, number: number, value: writer.bytes)
    }

    /// Nil if the bytes are no such record.
    init?(record bytes: [UInt8]) {
        guard let view = try? JSONView.stored(bytes),  // damage is the answer
            let tenant = view["tenant"]?.string.flatMap(Identifier.init),
            let app = view["app"]?.string,
            let environment = view["environment"]?.string.flatMap(APNsEnvironment.init(name:))
        else { return nil }
        self.tenant = TenantID(tenant)
        self.app = app
        self.environment = environment
    }

}
