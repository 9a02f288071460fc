/// What the process and its disk take, read when somebody asks.
package struct MachineView: Hashable, Sendable {
    package var logBytes: Int64 = 0
    package var diskFreeBytes: Int64 = 0
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

    package init() {}
}
