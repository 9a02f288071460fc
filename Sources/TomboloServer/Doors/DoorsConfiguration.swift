/// Settings and limits of the doors.
package struct DoorsConfiguration: Sendable {
    /// The version that `/version` reports.
    package var version: String
    /// The `<env>` of keys minted by the API: 1 to 16 lower-case letters and digits.
    package var keyEnvironment: String

    /// The files of `/console/`.
    package var console = ConsoleFiles.embedded

    /// Most bytes of an event's body or of a line of a batch. A push has at most 4 KiB, so events
    /// are small.
    package var bodyBytesMax = 64 * 1024
    /// Most lines of a batch that wait for their commit: enough to fill a group commit.
    package var linesInFlightMax = 200
    /// An atomic batch is one transaction and blocks the loop: 50 lines of 1 kB take up to 9 ms.
    package var atomicLinesMax = 50
    package var atomicBytesMax = 256 * 1024
    /// A dry run is read completely, then tried in pieces.
    package var dryRunLinesMax = 3_000
    package var dryRunBytesMax = 16 * 1024 * 1024
    /// The longest `Prefer: wait`: proxies drop a silent request after a minute.
    package var waitMax = Duration.seconds(30)
    /// Interval of a silent tail's heartbeats, before a proxy drops it.
    package var heartbeat = Duration.seconds(15)
    /// Most open requests of one key (`limits.requests_per_key`), of about 11 kB each: as many as
    /// eight HTTP/2 connections have streams.
    package var requestsPerKeyMax = 1_024
    /// Most tails of one key (`limits.tails_per_key`): each may have an unread page of the log.
    package var tailsPerKeyMax = 64
    /// Most keys of one tenant (`limits.keys_per_tenant`), including expired ones: one for each of
    /// its devices. A key has 0.3 to 10 kB, in memory and in the log.
    package var keysPerTenantMax = 500_000
    /// Requests without a valid key that one address may send at once, and the rate after that
    /// (`limits.refused_keys_per_second`). More are answered 429. Valid keys from the same address
    /// are not affected.
    package var refusedKeysBurst = 256
    package var refusedKeysPerSecond = 100
    /// Pages of the log that are read at once for one key; further reads of the key wait.
    package var pagesPerKeyMax = 2

    /// Requests of all tenants that may begin in one turn of the loop, 50 µs each. Further ones
    /// wait, and tenants take turns.
    package var requestsPerTurnMax = 16

    package init(version: String, keyEnvironment: String = "live") {
        self.version = version
        self.keyEnvironment = keyEnvironment
    }
}
