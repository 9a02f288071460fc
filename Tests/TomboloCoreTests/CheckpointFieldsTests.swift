import Testing
import TomboloJSON

@testable import CoreRig
@testable import TomboloCore

/// Each stored property of a card comes back with its checkpoint, or a table says what it is after
/// a restart, and why. A row of the table that no random history needs is red.
@Suite struct CheckpointFieldsTests {
    /// By property: its value after a recovery, if that is always the same, and the reason.
    private static let notStored: [String: (value: String?, reason: String)] = [
        "_cursor": (nil, "the row has its five numbers, and the clip goes on by the clock"),
        "_delay": ("nil", "how long a change waits counts from the restart again"),
        "_inFlight": ("nil", "the connection ended, and the push counts as unknown"),
        "contentHash": ("0", "only a push of this relay is compared with the next"),
        "echo.signOrNever": (nil, "recovery looks for repetitions that were missed"),
        "echo.version": ("0", "a state that was not repeated has no count"),
        "flag 5": ("false", "isQueued: all cards are examined at the start"),
        "flag 11": ("false", "checkpointMayWait: the stored checkpoint is the newest"),
        "goesOn": ("nil", "the history gets a line of its own again"),
        "lastPush": ("nil", "the history has it"),
        "pacing.backOffCause": ("tokenBackOff", "there is no back-off"),
        "pacing.backOffUntil": (Self.never, "the first push asks Apple again"),
        "pacing.bucket": (nil, "what ends owe beyond the burst is forgiven"),
        "pacing.holdsToken": ("false", "a reserved token counts as spent"),
        "pacing.lastLowPrioritySend": ("now", "a push may have gone until now"),
        "pacing.lastSend": ("now", "the same"),
        "phaseSince": ("now", "only a deadline of a start counts from it"),
        "rare.failure": ("nil", "the history has it"),
        "rare.frames": (nil, "the row counts the frames of the cursor too"),
        "rare.startPush": ("nil", "its outcome went with the connection"),
        "refusals": ("0", "no back-off grows from them"),
        "reservation": ("none", "the next attempt reserves again"),
        "startWaitsSince": ("now", "a start that was tried waits no more"),
        "waitReason": ("nil", "the first step decides it"),
        "waitingUntil": ("Instant(nanoseconds: \(Int64.max))", "the same"),
    ]
    private static let never = "Instant(nanoseconds: \(Int64.min))"

    /// The stored properties as texts; the flags one by one, and a time that is now as `now`.
    private static func properties(
        of card: Destination, now: Instant, wall: Instant
    ) -> [String: String] {
        var leaves: [String: String] = [:]
        RestartProof.walk(card, "", 6, &leaves)
        leaves = leaves.filter { !$0.key.hasPrefix("._rare") && !$0.key.hasPrefix(".flags") }
        RestartProof.walk(card.rare ?? Destination.Rare(), ".rare", 5, &leaves)
        var found: [String: String] = [:]
        for (path, value) in leaves.sorted(by: { $0.key < $1.key }) {
            let parts = path.split(separator: ".")
            let isPart = ["pacing", "rare", "echo"].contains(parts[0])
            let name = parts.prefix(isPart ? 2 : 1).joined(separator: ".")
            let isNow = value == "\(now)" || value == "\(wall)"
            found[name, default: ""] += isNow ? "now " : "\(value) "
        }
        for bit in UInt16(0)..<16 where bit != 7 {
            found["flag \(bit)"] = "\(card[Destination.Flags(rawValue: 1 << bit)]) "
        }
        return found
    }

    /// What the next relay reads if this one stops in order, with the checkpoints of this moment.
    private static func recovery(of rig: borrowing Rig) -> CoreRecovery {
        var recovery = rig.recovery()
        recovery.records.removeAll { $0.space == .checkpoint }
        recovery.before?.endedInOrder = true
        recovery.lead = rig.core.wall(rig.now) - rig.now
        for slot in rig.core.destinations.indices {
            guard let card = rig.core.destinations.at(slot),
                let device = rig.core.devices[card.device]
            else { continue }
            let value = card.checkpoint(
                activity: rig.core.activities[card.activity].number.rawValue,
                device: device.number, budget: rig.core.devices.budgets[card.device], now: rig.now,
                wall: rig.core.wall(rig.now))
            recovery.records.append(
                Record(space: .checkpoint, number: card.number, value: value))
        }
        return recovery
    }

    /// The properties that differ after a recovery, with the values that they have then.
    private static func differing(_ rig: borrowing Rig, _ found: inout [String: Set<String>]) {
        var core = Core(configuration: rig.core.configuration, seed: 7)
        #expect(core.recover(recovery(of: rig), now: rig.now) == [])
        var cards: [Int64: Destination] = [:]
        for slot in core.destinations.indices {
            if let card = core.destinations.at(slot) { cards[card.number] = card }
        }
        for slot in rig.core.destinations.indices {
            guard let card = rig.core.destinations.at(slot) else { continue }
            guard let other = cards[card.number] else {
                Issue.record("card \(card.number) is gone")
                continue
            }
            let wall = rig.core.wall(rig.now)
            let after = properties(of: other, now: rig.now, wall: wall)
            for (name, value) in properties(of: card, now: rig.now, wall: wall)
            where after[name] != value {
                found[name, default: []].insert((after[name] ?? "").trimmed)
            }
        }
    }

    @Test func `each property of a card is in its checkpoint, or in the table`() {
        var found: [String: Set<String>] = [:]
        for seed in 0..<60 {
            var history = RandomHistory(seed: UInt64(seed))
            var own: [String: Set<String>] = [:]
            history.beforeCrash = { Self.differing($0, &own) }
            history.run(steps: 40)
            found.merge(own) { $0.union($1) }
        }
        let table = Self.notStored
        for (name, values) in found.sorted(by: { $0.key < $1.key }) {
            guard let row = table[name] else {
                Issue.record("\(name) has no row, and becomes \(values.sorted().prefix(4))")
                continue
            }
            #expect(row.value.map { values == [$0] } ?? true, "\(name): \(values.sorted())")
        }
        let unneeded = table.keys.filter { found[$0] == nil }
        #expect(unneeded.sorted() == [], "these rows are not needed")
    }
}

extension String {
    /// Without the blank at its end.
    fileprivate var trimmed: String { hasSuffix(" ") ? String(dropLast()) : self }
}
