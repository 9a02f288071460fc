package import TomboloCore
package import TomboloEventLog

extension PositionedHead {
    /// Converts a head that was read from the log.
    package init(_ head: RecoveredHead) {
        self.init(
            ActivityHead(activity: head.activity, value: head.value), version: head.version,
            seq: head.seq, tenantSeq: head.tenantSeq)
    }
}
