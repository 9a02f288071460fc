/// A head with its position: its version, and the place of its newest event.
package struct PositionedHead: Hashable, Sendable {
    package var head: ActivityHead
    package var version: Int64
    /// Place of the newest event in the log.
    package var seq: Int64
    /// Place of the newest event among the events of its tenant.
    package var tenantSeq: Int64

    /// - Parameter tenantSeq: nil if the log has had only one tenant; then it equals `seq`.
    package init(
        _ head: ActivityHead, version: Int64, seq: Int64, tenantSeq: Int64? = nil
    ) {
        self.head = head
        self.version = version
        self.seq = seq
        self.tenantSeq = tenantSeq ?? seq
    }
}
