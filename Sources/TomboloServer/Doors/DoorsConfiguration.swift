/// What is decided where the doors are built, and the limits that hold at them.
package struct DoorsConfiguration: Sendable {
    /// Told by `/version`.
    package var version: String
    /// The `<env>` of keys minted here: 1 to 16 lower-case letters and digits.
    package var keyEnvironment: String

    /// What `/console/` shows.
    package var console = ConsoleFiles.embedded

    /// One event's body, and one line of a batch: what producers send is small, for a push holds 4
    /// KiB.
    package var bodyBytesMax = 64 * 1024
    /// Lines of a batch that wait for their commit: enough to fill a group commit, little to hold.
    package var linesInFlightMax = 200
    /// An atomic batch is one transaction and one piece of work of the loop: 50 lines of 1 kB are
    /// up to 9 ms.
    package var atomicLinesMax = 50
    package var atomicBytesMax = 256 * 1024
    /// A dry run is held whole, and is tried in pieces.
    package var dryRunLinesMax = 3_000
    package var dryRunBytesMax = 16 * 1024 * 1024
    /// The longest `Prefer: wait`: proxies give up a silent request after a minute.
    package var waitMax = Duration.seconds(30)
    /// A silent tail says that it lives, before a proxy takes it for dead.
    package var heartbeat = Duration.seconds(15)
    /// Requests of one key that may be open at once (`limits.requests_per_key`): each costs about
    /// 11 kB. Eight connections of HTTP/2 with all their streams.
    package var requestsPerKeyMax = 1_024
    /// Of these, tails (`limits.tails_per_key`): each may leave a page of the log unread.
    package var tailsPerKeyMax = 64
    /// Keys of one tenant (`limits.keys_per_tenant`), expired ones too: one for each of its
    /// devices. A key has 0.3 to 10 kB, in memory and in the log.
    package var keysPerTenantMax = 500_000
    /// Requests without a valid key that one address may send at once, and how many more in each
    /// second (`limits.refused_keys_per_second`); beyond, they are told to slow down. A valid key
    /// from the same address is served all the same.
    package var refusedKeysBurst = 256
    package var refusedKeysPerSecond = 100
    /// Pages of the log that are read at once for one key; others of the key wait for their turn.
    package var pagesPerKeyMax = 2

    /// Requests of all tenants that begin in one turn of the loop; those beyond wait by tenant, and
    /// tenants take turns. At 50 µs each about a millisecond.
    package var requestsPerTurnMax = 16

    package init(version: String, keyEnvironment: String = "live") {
        self.version = version
        self.keyEnvironment = keyEnvironment
    }
}
