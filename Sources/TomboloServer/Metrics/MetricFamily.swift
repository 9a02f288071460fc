/// One metric with all its series, and who may see it. `/metrics` writes the families of this
/// table, and `deploy/README.md` has it as Markdown. A test compares both with a relay's answer.
package struct MetricFamily: Hashable, Sendable {
    /// The metric's type, in Prometheus' terms.
    package enum Kind: String, Hashable, Sendable { case counter, gauge, histogram }

    /// The keys that may see a family.
    package enum Audience: String, Hashable, Sendable {
        /// Every key with scope `observe` sees its own tenant's values.
        case tenant
        /// Values over all tenants. A tenant that shares the relay with others does not see them;
        /// the relay's only tenant and its operators do.
        case alone
        /// Values of the process and machine. Only keys of `main` with scope `operate` see them.
        case operators
        /// A relay that waits for its log shows them to everybody.
        case standby
    }

    package let name: String
    package let kind: Kind
    package let labels: [String]
    package let audience: Audience
    /// The meaning in one sentence.
    package let help: String

    private init(
        _ name: String, _ kind: Kind, labels: [String] = [], seenBy audience: Audience = .tenant,
        _ help: String
    ) {
        self.name = name
        self.kind = kind
        self.labels = labels
        self.audience = audience
        self.help = help
    }

    package static let all: [MetricFamily] = ofEvents + ofPushes + ofDoors + ofRelay + ofProcess

    // MARK: Commands

    static let eventsAccepted = MetricFamily(
        "tombolo_events_accepted_total", .counter, "Events stored.")
    static let commandsRefused = MetricFamily(
        "tombolo_commands_refused_total", .counter, "Commands refused by the core.")
    static let activitiesLive = MetricFamily(
        "tombolo_activities_live", .gauge, "Activities that run.")
    static let destinations = MetricFamily("tombolo_destinations", .gauge, "Destinations known.")
    static let devices = MetricFamily("tombolo_devices", .gauge, "Devices registered.")
    static let pauses = MetricFamily("tombolo_pauses", .gauge, "Pauses in force.")
    static let lastSeq = MetricFamily(
        "tombolo_log_last_seq", .gauge, "Sequence of the tenant's newest durable event.")
    private static let ofEvents = [
        eventsAccepted, commandsRefused, activitiesLive, destinations, devices, pauses, lastSeq,
    ]

    // MARK: Pushes

    private static let appLabels = ["app", "environment"]

    static let pushesSent = MetricFamily(
        "tombolo_pushes_sent_total", .counter, "Pushes handed over.")
    static let pushResults = MetricFamily(
        "tombolo_push_results_total", .counter, labels: ["result"], "Pushes by what became of them."
    )
    static let pushesSkipped = MetricFamily(
        "tombolo_push_skipped_total", .counter, labels: ["reason"],
        "Events for which a card got no push of their own, by reason.")
    static let neverBegan = MetricFamily(
        "tombolo_cards_never_began_total", .counter, labels: ["reason"],
        "Cards whose start was never sent, by what held it longest.")
    static let framesSent = MetricFamily(
        "tombolo_frames_sent_total", .counter, "Frames of clips sent.")
    static let refusals = MetricFamily(
        "tombolo_refusals_total", .counter, labels: appLabels + ["reason"],
        "Pushes that Apple refused, by its reason; other: one that its tables do not have.")
    static let deadLetters = MetricFamily(
        "tombolo_dead_letters", .gauge, "Pushes that Apple refused permanently, and nobody retried."
    )
    static let upstreams = MetricFamily(
        "tombolo_upstreams", .gauge, labels: appLabels + ["state"],
        "1 for the state of an app's way to Apple: open, or closed while its pushes wait because "
            + "Apple refuses the key, is unwell, or cannot be reached.")
    static let eventToSent = MetricFamily(
        "tombolo_event_to_sent_seconds", .histogram, labels: appLabels,
        "From the newest change that a push carries to its hand-over: pacing, and waiting for "
            + "routes and tokens.")
    static let sentToAnswered = MetricFamily(
        "tombolo_sent_to_answered_seconds", .histogram, labels: appLabels,
        "From a push's hand-over to Apple's answer.")
    static let waiting = MetricFamily(
        "tombolo_waiting_destinations", .gauge, labels: ["reason"],
        "Destinations whose newest change waits, by what holds it.")
    static let waitingOldest = MetricFamily(
        "tombolo_waiting_oldest_seconds", .gauge, labels: ["reason"],
        "How long the oldest of these has waited, whatever held it before; whole seconds.")
    static let cards = MetricFamily(
        "tombolo_cards", .gauge, labels: ["state"],
        "Cards of running activities, by what is known of their newest version: shown (the phone "
            + "said so), older (Apple took it, the phone shows an older one), silent (Apple took "
            + "it, the phone said nothing), by_channel, behind (not sent yet), refused, "
            + "unreachable (Apple refused the card's token).")
    private static let ofPushes = [
        pushesSent, pushResults, pushesSkipped, neverBegan, framesSent, refusals, deadLetters,
        upstreams, waiting,
        waitingOldest, cards, eventToSent, sentToAnswered,
    ]

    // MARK: Requests

    static let requests = MetricFamily(
        "tombolo_http_requests_total", .counter, labels: ["operation", "status"],
        "Requests with a valid key, by operation and status.")
    static let keyEvents = MetricFamily(
        "tombolo_key_events_total", .counter, labels: ["key"],
        "Events stored, for the ten keys that stored most; other: by all others.")
    static let problems = MetricFamily(
        "tombolo_http_problems_total", .counter, labels: ["code"], "Refusals by code.")
    static let bytesHeld = MetricFamily(
        "tombolo_http_bytes_held", .gauge, seenBy: .alone,
        "Bytes of unread answers and unfinished bodies, of all clients.")
    static let connectionsCut = MetricFamily(
        "tombolo_http_connections_cut_total", .counter, labels: ["reason"], seenBy: .alone,
        "Connections that the relay ended or refused because a client went beyond a limit.")
    static let keysRefused = MetricFamily(
        "tombolo_http_keys_refused_total", .counter, labels: ["status"], seenBy: .alone,
        "Requests without a valid key, of all clients, by what they were answered.")
    private static let ofDoors = [
        requests, keyEvents, problems, bytesHeld, connectionsCut, keysRefused,
    ]

    // MARK: State of the relay

    static let ready = MetricFamily("tombolo_ready", .gauge, "1 while events are taken.")
    static let clockBehind = MetricFamily(
        "tombolo_clock_behind_seconds", .gauge,
        "How far the machine's clock is behind the timestamps that phones have.")
    static let certificateEnd = MetricFamily(
        "tombolo_certificate_end_seconds", .gauge,
        "When the listener's certificate ends, in Unix time; only with TLS.")
    static let buildInfo = MetricFamily(
        "tombolo_build_info", .gauge, labels: ["version"], "1, with the relay's version.")
    static let damagedRows = MetricFamily(
        "tombolo_damaged_rows", .gauge, seenBy: .alone,
        "Rows of the log that cannot be read: found at the start, or by reads since, which count at "
            + "most 100.")
    static let commit = MetricFamily(
        "tombolo_commit_seconds", .histogram, seenBy: .operators,
        "From a batch's hand-over to the log until it is on disk.")
    static let logBytes = MetricFamily(
        "tombolo_log_bytes", .gauge, seenBy: .operators, "Bytes of the log's files.")
    static let diskFree = MetricFamily(
        "tombolo_disk_free_bytes", .gauge, seenBy: .operators,
        "Bytes that are free on the disk of the log.")
    static let databaseInfo = MetricFamily(
        "tombolo_database_info", .gauge, labels: ["durability"], seenBy: .operators,
        "1, with where a commit is before it is acknowledged: local, standby, or none; only with "
            + "a database, as the three below.")
    static let databaseCommit = MetricFamily(
        "tombolo_database_commit_seconds", .gauge, labels: ["quantile"], seenBy: .operators,
        "How long the newest 1,000 commits took, each one round trip.")
    static let databaseDeadRows = MetricFamily(
        "tombolo_database_dead_rows", .gauge, seenBy: .operators,
        "Rows of the log's tables that wait for VACUUM (n_dead_tup).")
    static let databaseSnapshot = MetricFamily(
        "tombolo_database_oldest_snapshot_transactions", .gauge, seenBy: .operators,
        "How many transactions old the oldest snapshot is that somebody holds (backend_xmin).")
    static let standbys = MetricFamily(
        "tombolo_standbys", .gauge, seenBy: .operators,
        "Relays that wait for this log, to take it over; only with a database.")
    static let waitingForOwner = MetricFamily(
        "tombolo_waiting", .gauge, seenBy: .standby,
        "1 while this relay waits for a log that another one owns. Then it has only this family, "
            + "the next one and tombolo_build_info, without a key.")
    static let ownerBeat = MetricFamily(
        "tombolo_owner_beat_seconds", .gauge, seenBy: .standby,
        "Age of the owner's last heartbeat that this relay has seen.")
    static let upstreamInfo = MetricFamily(
        "tombolo_upstream_info", .gauge, labels: appLabels + ["endpoint", "ca_file"],
        seenBy: .operators,
        "1, with where an app's pushes go, and the authority's file where it is not the system's.")
    private static let ofRelay = [
        ready, clockBehind, certificateEnd, buildInfo, damagedRows, commit, logBytes, diskFree,
        databaseInfo, databaseCommit, databaseDeadRows, databaseSnapshot, standbys, waitingForOwner,
        ownerBeat, upstreamInfo,
    ]

    // MARK: The process, under Prometheus' own names

    static let cpu = MetricFamily(
        "process_cpu_seconds_total", .counter, seenBy: .operators, "CPU time, user and system.")
    static let residentMemory = MetricFamily(
        "process_resident_memory_bytes", .gauge, seenBy: .operators, "Resident memory.")
    static let openDescriptors = MetricFamily(
        "process_open_fds", .gauge, seenBy: .operators, "Open file descriptors.")
    static let mostDescriptors = MetricFamily(
        "process_max_fds", .gauge, seenBy: .operators, "How many may be open.")
    static let startTime = MetricFamily(
        "process_start_time_seconds", .gauge, seenBy: .operators,
        "When the process began, in Unix time.")
    private static let ofProcess = [
        cpu, residentMemory, openDescriptors, mostDescriptors, startTime,
    ]

    /// The table of all families, in Markdown.
    package static var markdown: String {
        all.reduce("| Metric | Kind | Labels | Seen by | Meaning |\n|---|---|---|---|---|\n") {
            let labels = $1.labels.map { "`\($0)`" }.joined(separator: ", ")
            return $0 + "| `\($1.name)` | \($1.kind.rawValue) | \(labels) | "
                + "\($1.audience.rawValue) | \($1.help) |\n"
        }
    }
}
