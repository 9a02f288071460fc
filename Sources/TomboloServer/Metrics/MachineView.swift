/// Resources of the process and its disk, read on demand.
package struct MachineView: Hashable, Sendable {
    package var logBytes: Int64 = 0
    /// Free bytes on the log's disk; nil if the log is in a database.
    package var diskFreeBytes: Int64?
    package var database: Database?
    package var cpuSeconds: Double = 0
    package var residentBytes: Int64 = 0
    package var openDescriptors: Int64 = 0
    package var mostDescriptors: Int64 = 0
    /// When the process started, as Unix time in seconds.
    package var startedAt: Double = 0
    package var upstreams: [UpstreamPlace] = []

    /// An endpoint to which an app's pushes are sent.
    package struct UpstreamPlace: Hashable, Sendable {
        package let app: String
        package let environment: String
        package let endpoint: String
        /// Path of the file with the certificate authorities; if empty, the system's are used.
        package let caFile: String

        package init(app: String, environment: String, endpoint: String, caFile: String) {
            self.app = app
            self.environment = environment
            self.endpoint = endpoint
            self.caFile = caFile
        }
    }

    /// The database server that keeps the log.
    package struct Database: Hashable, Sendable {
        /// The guarantee that a commit waits for before it is acknowledged.
        package let durability: String
        /// Duration of a recent commit in seconds.
        package let commitMedian: Double
        package let commitP99: Double
        package let bytes: Int64
        package let deadRows: Int64
        /// Age of the oldest snapshot, in transactions.
        package let oldestSnapshot: Int64
        /// Number of relays that wait for the log; nil until it was read.
        package let standbys: Int64?

        /// Makes a view from all its values.
        package init(
            durability: String, commitMedian: Double, commitP99: Double, bytes: Int64,
            deadRows: Int64, oldestSnapshot: Int64, standbys: Int64?
        ) {
            (self.durability, self.bytes, self.standbys) = (durability, bytes, standbys)
            (self.commitMedian, self.commitP99) = (commitMedian, commitP99)
            (self.deadRows, self.oldestSnapshot) = (deadRows, oldestSnapshot)
        }
    }

    package init() {}
}
