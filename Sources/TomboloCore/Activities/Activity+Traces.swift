/// The trace of one event, by the version that it made.
struct VersionTrace: Hashable, Sendable {
    let version: Int64
    let trace: TraceID
}

// Traces are only in memory: a push after a restart is recorded without its trace.

extension Activity {
    private static let tracesMax = 16

    /// Stores the trace of the event that makes `version`; nil if the event has no trace.
    mutating func note(_ trace: TraceID?, of version: Int64) {
        guard trace != nil || hasTraces else { return }
        // A discarded batch may have stored traces for this version or later ones: drop them.
        var kept = traces?.filter { $0.version < version } ?? []
        if let trace { kept.append(VersionTrace(version: version, trace: trace)) }
        traces = kept.isEmpty ? nil : Array(kept.suffix(Self.tracesMax))
    }

    /// The trace of the newest version in the range that has one.
    func trace(of versions: ClosedRange<Int64>) -> TraceID? {
        guard hasTraces else { return nil }
        return traces?.last { versions.contains($0.version) }?.trace
    }
}
