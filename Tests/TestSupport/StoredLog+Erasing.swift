import TomboloCore
import TomboloEventLog

extension StoredLog {
    /// As a log whose history before event `first` is cut: a life without its start names nobody.
    mutating func erase(_ erasure: LogErasure, first: Int64 = 1) -> LogErased {
        guard !erasure.isTrial else {
            var (copy, real) = (self, erasure)
            real.isTrial = false
            return copy.erase(real, first: first)
        }
        var receipt = LogErased()
        switch erasure.subject {
        case .activity(let number):
            if heads[number]?.tenant == erasure.tenant { erase(number, &receipt) }
        case .device(let device):
            for (activity, head) in heads where head.tenant == erasure.tenant {
                erase(device, from: activity, first: first, &receipt)
            }
            for index in facts.indices
            where facts[index].fact.tenant == erasure.tenant
                && FactRecipient.isAbout(.device(device), facts[index].fact.body)
            {
                eraseFact(index, &receipt)
            }
        }
        return receipt
    }

    private mutating func erase(_ activity: ActivityNumber, _ receipt: inout LogErased) {
        for index in facts.indices where facts[index].fact.activity == activity {
            eraseFact(index, &receipt)
        }
        guard !erased.contains(activity) else { return }
        for seq in chains[activity] ?? [] { eraseEvent(Int(seq) - 1, &receipt) }
        heads[activity]?.value = []
        retiredNames[activity] = nil
        erased.insert(activity)
        receipt.activities += 1
    }

    private mutating func eraseEvent(_ index: Int, _ receipt: inout LogErased) {
        guard !events[index].event.body.isEmpty else { return }
        events[index].event.body = []
        events[index].event.idempotency = nil
        receipt.events += 1
    }

    private mutating func eraseFact(_ index: Int, _ receipt: inout LogErased) {
        let nothing = Array("{}".utf8)
        guard facts[index].fact.body != nothing else { return }
        facts[index].fact.body = nothing
        receipt.facts += 1
    }

    /// Life by life: what was for the device alone goes whole, of the others the start that names
    /// it.
    private mutating func erase(
        _ device: Identifier, from activity: ActivityNumber, first: Int64,
        _ receipt: inout LogErased
    ) {
        let head = heads[activity]?.value ?? []
        switch DeviceTrace.inHead(head, of: device) {
        case .alone: return erase(activity, &receipt)
        case .among:
            let version = heads[activity]?.version ?? 0
            heads[activity]?.value = DeviceTrace.head(head, version: version, without: device)
        case .none: break
        }
        var isAlone = false
        for seq in chains[activity] ?? [] where seq >= first {
            let event = events[Int(seq) - 1].event
            let trace =
                event.kind == .start ? DeviceTrace.inStart(event.body, of: device) : .none
            if event.kind == .start { isAlone = trace == .alone }
            if isAlone || trace == .among { eraseEvent(Int(seq) - 1, &receipt) }
        }
    }
}
