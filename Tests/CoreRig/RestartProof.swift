#if DEBUG
import TomboloJSON

@testable import TomboloCore

/// Compares cores that were recovered from one log, field by field. `Rig.recover` does so at each
/// crash of a test. A build for release has no `@testable`, and no proof.
///
///     let differing = proof.afterSevenSeconds(recovery, now: rig.now)  // ["card.phaseSince"]
struct RestartProof {
    /// Values by their places, such as `card 3/1/0.0` and `phaseSince`.
    typealias Fields = [String: [String: String]]

    let configuration: CoreConfiguration

    /// The fields that differ, and have no row in a table.
    func withoutRow(_ recovery: CoreRecovery, now: Instant) -> [String] {
        let through = recovery.before?.toldThrough ?? .distantPast
        let isUnsure = recovery.restoredAt != nil || through > now + recovery.lead
        let unsure = isUnsure ? Self.beyondNow : [:]
        let late = Self.unexpected(
            afterSevenSeconds(recovery, now: now), Self.notOnRecord, Self.notOnRecordByHand,
            unsure)
        let again = Self.unexpected(
            afterItsOwnBatch(recovery, now: now), Self.addedAgain, Self.addedAgainByHand, unsure)
        return late.map { "\($0), 7 s later" } + again.map { "\($0), stored and recovered again" }
    }

    /// Those of which no table has a row.
    static func unexpected(_ found: Set<String>, _ tables: [String: String]...) -> [String] {
        let rows = tables.flatMap(\.keys)
        return found.filter { field in !rows.contains { field.contains($0) } }.sorted()
    }

    /// The fields that differ if the recovery runs 7 s later: those that are not on record.
    func afterSevenSeconds(_ recovery: CoreRecovery, now: Instant) -> Set<String> {
        var one = core()
        var late = core()
        _ = one.recover(recovery, now: now)
        _ = late.recover(recovery, now: now + .seconds(7))
        return Self.differing(Self.fields(of: one), Self.fields(of: late))
    }

    /// The fields that differ if what a recovery writes is stored and recovered again, and
    /// `writes SPACE` for what the second recovery wants to write.
    func afterItsOwnBatch(_ recovery: CoreRecovery, now: Instant) -> Set<String> {
        var one = core()
        var again = core()
        _ = one.recover(recovery, now: now)
        let before = Self.fields(of: one)
        guard let batch = one.takeBatch(now: now, writesAll: true) else { return [] }
        _ = again.recover(Self.stored(batch, in: recovery), now: now)
        let writes = again.takeBatch(now: now, writesAll: true).map { batch in
            batch.records.map { "writes \($0.space)" } + batch.facts.map { "writes \($0.kind)" }
                + batch.heads.map { _ in "writes heads" }
        }
        return Self.differing(before, Self.fields(of: again)).union(writes ?? [])
    }

    private func core() -> Core { Core(configuration: configuration, seed: 7) }

    private static func stored(_ batch: AppendBatch, in recovery: CoreRecovery) -> CoreRecovery {
        var next = recovery
        for record in batch.records {
            next.records.removeAll { $0.space == record.space && $0.number == record.number }
            if record.value != nil { next.records.append(record) }
        }
        for head in batch.heads {
            for index in next.heads.indices where next.heads[index].head.activity == head.activity {
                next.heads[index].head = head
            }
        }
        return next
    }

    private static func differing(_ one: Fields, _ other: Fields) -> Set<String> {
        var found: Set<String> = []
        for (place, fields) in one {
            let kind = place.prefix { $0 != " " }
            guard let others = other[place] else {
                found.insert("\(kind) is gone")
                continue
            }
            for (name, value) in fields where others[name] != value {
                found.insert("\(kind)\(name)")
            }
        }
        for place in other.keys where one[place] == nil {
            found.insert("\(place.prefix { $0 != " " }) is new")
        }
        return found
    }

    // MARK: the tables

    /// Recovered twice, 7 s apart, from one log.
    static let notOnRecord = [
        ".pacing.lastSend": unknown, ".pacing.lastLowPrioritySend": unknown,
        "budget.lastSend": unknown, "budget.lastLowPrioritySend": unknown,
        ".pacing.bucket.fullAt": "a bucket is full now at the earliest",
        "._cursor": "a clip that plays goes on by the clock",
        ".phaseSince": "the deadline of an unknown start begins again",
        ".startWaitsSince": "a card without a checkpoint waits since its start",
        ".pacing.unsettledSecond": "a time that no known clock has shown counts as now",
        ".flags": "a state that the phone has dropped is sent again, by the clock",
        ".heard.presence": "a presence that is old counts as background",
    ]
    static let unknown = "a push that is not on record may have gone until now"

    /// Recovered, stored, and recovered again.
    static let addedAgain = [
        "._cursor": "frames that were due meanwhile are counted at each recovery",
        "._rare": "the same",
        ".flags": "an end that may have gone takes a token at each recovery, and is dirty then",
        "writes checkpoint": "these marks",
    ]

    /// Rows that only crashes of tests by hand need. Nothing says that one is not needed any more.
    static let notOnRecordByHand = [
        ".echo.signOrNever": "a repetition that was missed is due at the recovery",
        "budget.bucket.fullAt": "an end that may have gone takes its token at the recovery",
    ]
    static let addedAgainByHand = [
        ".bucket.fullAt": "an end that may have gone takes a token at each recovery",
        ".bucket.interval": unpaced, "budget.last": unpaced, ".pacing.last": unpaced,
        ".startWaitsSince": "only a start that was not tried waits",
    ]
    private static let unpaced =
        "a card without a checkpoint has had no push; with its first one it may have had one"
    /// Rows if the log was restored, or if the relay before may have used times that are later than
    /// now: the machine was rebooted, or its clock was set back.
    static let beyondNow = [
        ".pacing.taken": "such times are recorded, and may have been used once more since"
    ]

    // MARK: a core as text

    private static func fields(of core: borrowing Core) -> Fields {
        var all: Fields = [:]
        for slot in core.destinations.indices {
            guard let card = core.destinations.at(slot) else { continue }
            let activity = core.activities[card.activity].number.rawValue
            let device = core.devices[card.device]?.number ?? -1
            let place = "card \(activity)/\(device)/\(card.incarnation).\(card.renewal)"
            walk(card, "", 6, &all[place, default: [:]])
        }
        for slot in core.devices.indices {
            guard let device = core.devices[slot] else { continue }
            walk(device, "", 5, &all["device \(device.number)", default: [:]])
            walk(core.devices.budgets[slot], "", 5, &all["budget \(device.number)", default: [:]])
        }
        for slot in core.activities.indices {
            let activity = core.activities[slot]
            guard core.activities.slot(of: activity.number) == slot else { continue }
            walk(activity, "", 4, &all["activity \(activity.number.rawValue)", default: [:]])
        }
        for number in core.upstreams.numbers {
            walk(core.upstreams[number], "", 4, &all["upstream \(number.rawValue)", default: [:]])
        }
        return all
    }

    /// Places in tables, and whether a value has been written: no part of what is known.
    private static let skipped: Set<String> = [
        "activityPlace", "devicePlace", "destinations", "channelDestination", "audience",
        "checkpointIsDirty", "number",
    ]

    static func walk(
        _ value: Any, _ path: String, _ depth: Int, _ fields: inout [String: String]
    ) {
        if let json = value as? JSON {
            fields[path] = String(decoding: json.bytes, as: UTF8.self)
            return
        }
        let mirror = Mirror(reflecting: value)
        if mirror.displayStyle == .optional {
            guard let child = mirror.children.first else { return fields[path] = "nil" }
            return walk(child.value, path, depth, &fields)
        }
        let isLeaf = mirror.children.isEmpty || depth == 0 || value is Instant || value is Span
        switch mirror.displayStyle {
        case .dictionary, .set:
            fields[path] = mirror.children.map { "\($0.value)" }.sorted().joined(separator: ";")
        case _ where isLeaf: fields[path] = "\(value)"
        case .collection:
            fields[path] = mirror.children.map { "\($0.value)" }.joined(separator: ";")
        default:
            for (label, child) in mirror.children where !skipped.contains(label ?? "") {
                walk(child, "\(path).\(label ?? "")", depth - 1, &fields)
            }
        }
    }
}
#endif
