/// Where a batch came to be in the log.
package struct CommittedBatch: Hashable, Sendable {
    /// The place of its first event in the log; the others follow without a gap.
    package var firstSeq: Int64
    package var firstFactSeq: Int64
    /// The place of each event among those of its tenant.
    package var tenantSeqs: [Int64]

    package init(firstSeq: Int64, firstFactSeq: Int64, tenantSeqs: [Int64]) {
        self.firstSeq = firstSeq
        self.firstFactSeq = firstFactSeq
        self.tenantSeqs = tenantSeqs
    }

    /// That of a log with one tenant.
    package init(firstSeq: Int64, firstFactSeq: Int64, events: Int) {
        self.init(
            firstSeq: firstSeq, firstFactSeq: firstFactSeq,
            tenantSeqs: Array(firstSeq..<firstSeq + Int64(events)))
    }
}
