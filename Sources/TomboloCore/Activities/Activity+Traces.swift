/// The trace of one event, by the version that it made.
struct VersionTrace: Hashable, Sendable {
    let version: Int64
    let trace: TraceID
}

// Only memory has them: a push that goes after a restart is on record without its trace.

extension Activity {
    /// Of the newest so many events that came with one.
    private static let tracesMax = 16

    /// The event that makes `version` comes with that trace, or with none.
    mutating func note(_ trace: TraceID?, of version: Int64) {
        guard trace != nil || hasTraces else { return }
        // A batch that was given up may have had this version before.
        var kept = traces?.filter { $0.version < version } ?? []
        if let trace { kept.append(VersionTrace(version: version, trace: trace)) }
        traces = kept.isEmpty ? nil : Array(kept.suffix(Self.tracesMax))
    }

    /// The trace of the newest of these versions that has one.
    func trace(of versions: ClosedRange<Int64>) -> TraceID? {
        guard hasTraces else { return nil }
        return traces?.last { versions.contains($0.version) }?.trace
    }
}
