/// What the process and its disk take, read when somebody asks.
package struct MachineView: Hashable, Sendable {
    package var logBytes: Int64 = 0
    /// nil where the log is in a database.
    package var diskFreeBytes: Int64?
    package var database: Database?
    package var cpuSeconds: Double = 0
    package var residentBytes: Int64 = 0
    package var openDescriptors: Int64 = 0
    package var mostDescriptors: Int64 = 0
    /// Unix time.
    package var startedAt: Double = 0
    package var upstreams: [UpstreamPlace] = []

    /// Where an app's pushes go.
    package struct UpstreamPlace: Hashable, Sendable {
        package let app: String
        package let environment: String
        package let endpoint: String
        /// The authority's file; empty: the system's.
        package let caFile: String

        package init(app: String, environment: String, endpoint: String, caFile: String) {
            self.app = app
            self.environment = environment
            self.endpoint = endpoint
            self.caFile = caFile
        }
    }

    /// The server that keeps the log.
    package struct Database: Hashable, Sendable {
        /// Where a commit is before it is acknowledged.
        package let durability: String
        /// How long one of the newest commits took, in seconds.
        package let commitMedian: Double
        package let commitP99: Double
        package let bytes: Int64
        package let deadRows: Int64
        /// In transactions.
        package let oldestSnapshot: Int64

        /// All of it.
        package init(
            durability: String, commitMedian: Double, commitP99: Double, bytes: Int64,
            deadRows: Int64, oldestSnapshot: Int64
        ) {
            (self.durability, self.bytes) = (durability, bytes)
            (self.commitMedian, self.commitP99) = (commitMedian, commitP99)
            (self.deadRows, self.oldestSnapshot) = (deadRows, oldestSnapshot)
        }
    }

    package init() {}
}
