import TomboloCore
import TomboloEventLog
import TomboloHTTP
import TomboloServer

extension Configuration {
    /// The keys at the top level of the file.
    static let settings: [Setting<Configuration>] = [
        Setting(
            "listen", .address(\.listen),
            "Where the API is served. An address that is not loopback needs `tls`, or `insecure`."),
        Setting("data", .fileIfAny(\.data), "The data directory; `serve` needs it, or `database`."),
        Setting(
            "insecure", .flag(\.isInsecure),
            "Allow clear text on an address that other machines reach."),
        Setting(
            "log", .logFormat(\.logFormat), "How the lines on stderr look: for people, or as JSON."),
    ]

    static let limitSettings: [Setting<Configuration>] = [
        Setting(
            "history", .duration(\.retention.history, LogRetention.historyMin...decade),
            "How long the log keeps events and ended activities."),
        Setting(
            "facts", .duration(\.retention.facts, .hours(1)...decade),
            "How long the log keeps facts: what became of pushes, tokens and the like."),
        Setting(
            "fact_bytes", .count(\.retention.factBytes, factBytes),
            "How many bytes of facts the log keeps: beyond, the oldest go before their time."),
        Setting(
            "start_deadline", .duration(\.limits.startDeadline, second...hour),
            "How long a start without a known outcome waits for a sign of the card."),
        Setting(
            "probe_max", .duration(\.limits.probeMax, second...hour),
            "The longest time between two tries while Apple does not answer."),
        Setting(
            "min_rate", .duration(\.limits.frameIntervalMax, second...hour),
            "A clip that gets less than one frame in this time shows its poster frame only."),
        Setting(
            "timeline_jitter", .duration(\.limits.timelineJitter, .zero...hour),
            "After a boundary each timeline's producer is asked within this time."),
        Setting(
            "connections_per_address", .count(\.server.connectionsPerAddress, 1...20_000),
            "Connections that one address may have open."),
        Setting(
            "handshakes_per_second", .count(\.server.handshakesPerSecond, 1...20_000),
            "TLS handshakes that one address may begin in a second."),
        Setting(
            "refused_keys_per_second", .count(\.doors.refusedKeysPerSecond, 1...20_000),
            "Requests without a valid key that one address may send in a second."),
        Setting(
            "requests_per_key", .count(\.doors.requestsPerKeyMax, 1...1_000_000),
            "Requests that one key may have open."),
        Setting(
            "tails_per_key", .count(\.doors.tailsPerKeyMax, 1...20_000),
            "Tails that one key may have open."),
        Setting(
            "keys_per_tenant", .count(\.doors.keysPerTenantMax, 1...1_000_000),
            "API keys of one tenant, expired ones too."),
        Setting("activities", .count(\.limits.runningMax, 1...10_000_000), "Running activities."),
        Setting(
            "activities_per_tenant", .count(\.limits.runningPerTenantMax, 1...10_000_000),
            "Running activities of one tenant."),
        Setting(
            "ended_activities", .count(\.limits.endedMax, 1...10_000_000),
            "Ended activities in memory. Beyond, the oldest leave; the log answers for them."),
        Setting(
            "cards", .count(\.limits.cardsMax, 1...20_000_000),
            "Cards on devices, and names of devices that are not registered. Beyond, the oldest "
                + "that have ended leave."),
        Setting(
            "cards_per_tenant", .count(\.limits.cardsPerTenantMax, 1...20_000_000),
            "The same of one tenant."),
        Setting(
            "idempotency_keys", .count(\.limits.idempotencyKeysMax, 1...1_000_000_000),
            "Idempotency keys of a day."),
        Setting(
            "idempotency_keys_per_tenant",
            .count(\.limits.idempotencyKeysPerTenantMax, 1...1_000_000_000),
            "Idempotency keys of a day, of one tenant."),
        Setting("devices", .count(\.limits.devicesMax, 1...10_000_000), "Registered devices."),
        Setting(
            "devices_per_tenant", .count(\.limits.devicesPerTenantMax, 1...10_000_000),
            "Registered devices of one tenant."),
        Setting(
            "activities_per_user", .count(\.limits.runningPerRecipientMax, 1...2_000),
            "Running activities of one user, and as many that name one device."),
        Setting(
            "cards_per_device", .count(\.limits.cardsPerDeviceMax, 1...10_000),
            "Cards of one device. Beyond, the oldest that have ended leave."),
        Setting(
            "destinations_per_key_per_second",
            .count(\.limits.destinationsPerKeyPerSecond, 1...1_000_000),
            "Destinations that the starts and ends of one API key reach in a second."),
        Setting(
            "devices_per_user", .count(\.limits.devicesPerUserMax, 1...10_000),
            "Devices of one user."),
    ]

    private static let second = Span.seconds(1)
    private static let hour = Span.hours(1)
    private static let decade = Span.hours(87_600)
    private static let factBytes = Int64(LogRetention.factBytesMin)...1 << 40
}

extension Configuration.TLS {
    /// The keys of `tls`.
    static let settings: [Setting<Self>] = [
        Setting(
            "certificate", .file(\.certificate), isRequired: true, change: .reload,
            "the PEM file of the certificate"),
        Setting(
            "key", .file(\.key), isRequired: true, change: .reload,
            "the PEM file of its private key"),
    ]
}

extension Configuration.App {
    /// The keys of an entry in `apps`.
    static let settings: [Setting<Self>] = [
        Setting("id", .text(\.id), isRequired: true, "the app's bundle id"),
        Setting("tenant", .tenant(\.tenant), "the tenant whose app it is"),
        Setting(
            "team_id", .text(\.teamID), isRequired: true, change: .reload,
            "the developer team's id"),
        Setting(
            "key_id", .text(\.keyID), isRequired: true, change: .reload, "the id of the .p8 key"),
        Setting(
            "key_file", .file(\.keyFile), isRequired: true, change: .reload,
            "the path of the .p8 key"),
        Setting(
            "environment", .environment(\.environment),
            "the environment of Apple's push service; it must be the one of the app's tokens"),
        Setting("endpoint", .origin(\.endpoint), "a simulator or a stand-in, instead of Apple"),
        Setting(
            "channels_endpoint", .origin(\.channelsEndpoint),
            "where broadcast channels are managed; without it Apple, or `endpoint`"),
        Setting(
            "ca_file", .fileIfAny(\.caFile),
            "the PEM file of the authority to trust at `endpoint`"),
    ]
}

/// The fields of a grant as they are in the file, before they are checked against each other.
struct GrantFields {
    var spacing: Span
    var burst: Int64
    var perHour: Double?
    var reserve: Int64
    var lowPrioritySpacing: Span

    init(_ grant: Grant) {
        spacing = grant.spacing
        burst = grant.burst
        perHour = grant.perHour
        reserve = grant.reserve
        lowPrioritySpacing = grant.lowPrioritySpacing
    }

    /// The keys of a budget class in `budgets`.
    static let settings: [Setting<Self>] = [
        Setting(
            "spacing", .duration(\.spacing, .zero...Grant.spacingMax),
            "least time between two pushes"),
        Setting("burst", .tokens(\.burst, 1...1_000_000), "pushes of priority 10 at once"),
        Setting(
            "per_hour", .perHour(\.perHour, 0.001...1_000_000),
            "pushes of priority 10 an hour in the long run"),
        Setting(
            "reserve", .tokens(\.reserve, 0...1_000_000),
            "of `burst`, how many only an alert or an end may take"),
        Setting(
            "low_priority_spacing", .duration(\.lowPrioritySpacing, .zero...Grant.spacingMax),
            "least time between two pushes of priority 5"),
    ]
}
