import TestSupport
import TomboloCore
import TomboloEventLog
import TomboloLoop
import TomboloRelay

// What goes to the log, and what a start finds there.

extension Seam {
    /// Whether what is not stored yet is answered for.
    var acknowledgesBeforeCommit: Bool { mutant == .acknowledgeBeforeCommit }

    /// What is about to be stored.
    func apply(to batch: inout AppendBatch) {
        if mutant == .retiredAfterRestart { retire(&batch) }
        if mutant == .deliveryForgotten { forgetDelivery(&batch) }
        if mutant == .outcomeForgotten, world.lives > 1 { forgetOutcome(&batch) }
        guard mutant == .checkpointBeforeSend || mutant == .doubleAlertAfterCrash else { return }
        if mutant == .checkpointBeforeSend { writeCheckpoints(&batch) }
        for index in batch.records.indices where batch.records[index].space == .checkpoint {
            let number = batch.records[index].number
            guard let value = batch.records[index].value else {
                checkpoints[number] = nil
                continue
            }
            var text = JSONText(value)
            if mutant == .doubleAlertAfterCrash {
                text.set("al", to: "0")
            } else {
                let version = world.newestVersion(text.integer("a") ?? 0, with: batch)
                text.set("v", to: "\(version)")
            }
            batch.records[index].value = text.bytes
            checkpoints[number] = text.bytes
        }
    }

    /// A delivery is no delivery any more to those who read the history.
    private func forgetDelivery(_ batch: inout AppendBatch) {
        let last = batch.facts.lastIndex { DeliveryRecord.kinds.contains($0.kind) }
        if let last, batch.facts.count > 2 { batch.facts[last].kind = "push.forgotten" }
    }

    /// The first card that begins after a restart does so unseen.
    private func forgetOutcome(_ batch: inout AppendBatch) {
        let first = batch.facts.firstIndex { $0.kind == "card.began" }
        if let first { batch.facts[first].kind = "card.forgotten" }
    }

    /// What a stored batch answers.
    func apply(to receipt: inout AppendReceipt) {
        guard mutant == .seqOverAllTenants else { return }
        for index in receipt.tenantSeqs.indices {
            receipt.tenantSeqs[index] = receipt.firstSeq + Int64(index)
        }
    }

    /// An activity that has begun again is retired all the same, a batch later.
    private func retire(_ batch: inout AppendBatch) {
        let touched = Set(batch.events.map(\.activity))
        batch.retired += begunAnew.filter { !touched.contains($0.activity) }
        begunAnew = batch.events.compactMap { event in
            guard event.kind == .start, event.expectedVersion > 0,
                let model = world.reference.models[event.activity]
            else { return nil }
            return RetiredActivity(
                activity: event.activity, name: Plan.identifier(model.id),
                endedAt: event.recordedAt)
        }
    }

    /// The machine's clock, as a life of the relay sees it. The mutant goes on from where it was at
    /// the start.
    var clock: any WallClock {
        mutant == .clockNeverFollowed ? UnsetClock(world.clock, world.loop) : world.clock
    }

    /// Whether history is cut without a look at the heads that need it.
    var cutsUnderHeads: Bool { mutant == .cutUnderHead }

    /// Every destination of an activity that is about to change gets a checkpoint with the change.
    private func writeCheckpoints(_ batch: inout AppendBatch) {
        let changed = Set(batch.events.map(\.activity.rawValue))
        let own = Set(batch.records.lazy.filter { $0.space == .checkpoint }.map(\.number))
        for (number, value) in checkpoints.sorted(by: { $0.key < $1.key })
        where !own.contains(number) {
            guard let activity = JSONText(value).integer("a"), changed.contains(activity) else {
                continue
            }
            batch.records.append(Record(space: .checkpoint, number: number, value: value))
        }
    }

    /// What was read at start-up.
    func apply(to recovered: inout RecoveredLog) {
        checkpoints = [:]
        if mutant == .reloadOwedForgotten {
            recovered.records.removeAll { $0.space == .owedReload }
        }
        for index in recovered.records.indices {
            guard let value = recovered.records[index].value else { continue }
            if recovered.records[index].space == .checkpoint {
                checkpoints[recovered.records[index].number] = value
            }
            if let changed = changed(value, recovered.records[index]) {
                recovered.records[index].value = changed
            }
        }
    }

    /// Nil where it stays as it is.
    private func changed(_ value: [UInt8], _ record: Record) -> [UInt8]? {
        var text = JSONText(value)
        switch (mutant, record.space) {
        case (.budgetForgottenAtRestart, .checkpoint): text.set("b", to: "0")
        case (.cardAgeForgottenAtRestart, .checkpoint):
            text.set("cb", to: "\(world.clock.now().nanoseconds)")
        case (.startWaitForgotten, .checkpoint):
            text.set("ws", to: "\(world.clock.now().nanoseconds)")
        case (.takenForgotten, .checkpoint): text.set("tk", to: "[]")
        case (.timestampsMovedByKills, .checkpoint): moveTimestamps(&text, record.number)
        case (.reloadBudgetForgotten, .device): forgetSurfaces(&text)
        case (.windowReopenedByClock, .relay): followWall(&text)
        default: return nil
        }
        return text.bytes
    }

    /// A card's newest timestamp is 5 s later than what the recovery before made of it.
    private func moveTimestamps(_ text: inout JSONText, _ number: Int64) {
        guard var taken = text["tk"]?.dropFirst().dropLast().split(separator: ",").map(String.init),
            let last = taken.popLast().flatMap({ Int64($0) })
        else { return }
        let moved = max(last, movedTimestamps[number] ?? 0) + 5
        movedTimestamps[number] = moved
        text.set("tk", to: "[\((taken + ["\(moved)"]).joined(separator: ","))]")
    }

    /// Of each surface, what it has spent.
    private func forgetSurfaces(_ text: inout JSONText) {
        guard let surfaces = text["surfaces"] else { return }
        var own = JSONText(Array(surfaces.utf8))
        for name in ReloadBook.names.map(\.text) {
            guard let wanted = own[name]?.dropFirst().split(separator: ",").first else { continue }
            own.set(name, to: "[\(wanted),0]")
        }
        text.set("surfaces", to: String(decoding: own.bytes, as: UTF8.self))
    }

    /// Steady time, by which budgets fill up, goes on by the wall clock.
    private func followWall(_ text: inout JSONText) {
        guard let steady = text.integer("steady"), let lead = text.integer("lead") else { return }
        // What the machine's other clock knows of is counted anyway.
        let passed = text.integer("monotonic").map { world.loop.now.nanoseconds - $0 } ?? 0
        let step = world.clock.now().nanoseconds - (steady + lead) - passed
        guard step > 1_000_000_000 else { return }
        // A step of seconds opens as much as one of a day.
        let jump = step + Span.hours(24).nanoseconds
        text.set("steady", to: "\(steady + jump)")
        text.set("lead", to: "\(lead - jump)")
    }
}

/// A clock that nobody sets while somebody looks at it.
private final class UnsetClock: WallClock, @unchecked Sendable {
    // Sendable: used on the loop's thread only.
    private let begin: Instant
    private let since: MonotonicInstant
    private let loop: any Loop
    let boot: String

    init(_ clock: VirtualWallClock, _ loop: any Loop) {
        (begin, since, boot) = (clock.now(), loop.now, clock.boot)
        self.loop = loop
    }

    func now() -> Instant { begin + Span(nanoseconds: (loop.now - since).nanoseconds) }
}
