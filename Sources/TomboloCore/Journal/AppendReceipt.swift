/// The places that a batch got in the log.
package struct AppendReceipt: Hashable, Sendable {
    /// The sequence number of the batch's first event; the others follow without a gap. Without an
    /// event: the next number.
    package var firstSeq: Int64
    package var firstFactSeq: Int64
    /// The place of each event of the batch among those of its tenant.
    package var tenantSeqs: [Int64]
    /// The place of each fact of the batch among those of its tenant.
    package var tenantFactSeqs: [Int64]

    package init(
        firstSeq: Int64, firstFactSeq: Int64, tenantSeqs: [Int64] = [],
        tenantFactSeqs: [Int64] = []
    ) {
        self.firstSeq = firstSeq
        self.firstFactSeq = firstFactSeq
        self.tenantSeqs = tenantSeqs
        self.tenantFactSeqs = tenantFactSeqs
    }

    /// The receipt of a log with one tenant.
    package init(firstSeq: Int64, firstFactSeq: Int64, of batch: AppendBatch) {
        self.init(
            firstSeq: firstSeq, firstFactSeq: firstFactSeq,
            tenantSeqs: Array(firstSeq..<firstSeq + Int64(batch.events.count)),
            tenantFactSeqs: Array(firstFactSeq..<firstFactSeq + Int64(batch.facts.count)))
    }
}
