/// The numbers that the log gave to the rows of a batch.
package struct AppendReceipt: Hashable, Sendable {
    /// Number of the batch's first event; the others follow without a gap. If the batch has no
    /// event: the number of the next one.
    package var firstSeq: Int64
    package var firstFactSeq: Int64
    /// For each event of the batch, its place among the events of its tenant.
    package var tenantSeqs: [Int64]
    /// For each fact of the batch, its place among the facts of its tenant.
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

    /// The receipt if the log has only one tenant: both kinds of numbers are equal.
    package init(firstSeq: Int64, firstFactSeq: Int64, of batch: AppendBatch) {
        self.init(
            firstSeq: firstSeq, firstFactSeq: firstFactSeq,
            tenantSeqs: Array(firstSeq..<firstSeq + Int64(batch.events.count)),
            tenantFactSeqs: Array(firstFactSeq..<firstFactSeq + Int64(batch.facts.count)))
    }
}
