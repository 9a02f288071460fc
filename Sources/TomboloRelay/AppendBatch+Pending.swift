import TomboloCore
import TomboloEventLog

extension AppendBatch {
    init(_ batch: PendingBatch) {
        self.init()
        events = batch.events
        heads = batch.heads
        facts = batch.facts
        records = batch.records
        retired = batch.retired
        replaced = batch.replaced
    }
}
