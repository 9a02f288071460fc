import TomboloJSON

/// A destination's checkpoint, read from the log.
struct Checkpoint: Sendable {
    var activity: Int64
    var device: Int64
    var incarnation: Int64
    var renewal: Int64
    /// Those flags of the destination that are in `storedFlags`.
    var flags: Destination.Flags
    var isOverOnPhone: Bool
    /// nil if the start was sent, or if an older relay wrote the checkpoint.
    var startWaitsSince: Instant?
    /// The last value that depends on presence and that Apple accepted.
    var bound: JSON?
    var story: CardStory
    var cardSince: Instant?
    /// The same in wall time, if an older relay wrote the checkpoint.
    var formerSince: Instant?
    var echo: Echo
    var startBucketFullAt: Instant
    var phase: Destination.Phase
    var acknowledged: Int64
    var alertsThrough: Int64
    var taken: TakenTimestamps
    var bucketFullAt: Instant
    var deviceBucketFullAt: Instant
    var frames: FrameCounts
    /// The last state of its incarnation, if the activity was started again before that was sent.
    var final: Projection?
    var keptAt: Span?
    var staleAt: Instant?
    var unsettledSince: Instant?
    var lastLocalUpdate: Int64
    /// Monotonic time of the last push; `distantPast`: none, or an older relay wrote this.
    var lastSend: Instant
    var clip: Clip?
    var ledger: Ledger?

    /// The members that are there if a flag is set.
    static let storedFlags: KeyValuePairs<String, Destination.Flags> = [
        "fb": .hasFallenBack, "dm": .wasDismissed, "sr": .startWasRefused,
        "ss": .startWasSkipped, "ma": .wasMadeAnew, "ot": .owesTrailing,
    ]

    /// How far the destination is in a clip.
    struct Clip: Sendable {
        var version: Int64
        var counted: Int64
        var pushed: Int64
        var shownAt: Span?
        var elapsed: Span
    }

    /// Throws if the bytes are not a checkpoint, or have a value that no relay writes.
    init(stored bytes: [UInt8]) throws(StoredValueError) {
        let view = try JSONView.stored(bytes)
        activity = try view.stored("a", \.storedCount)
        device = try view.stored("d", \.storedNumber)
        incarnation = try view.stored("i", \.storedCount)
        phase = try view.stored("p") {
            $0.storedCount.flatMap { Destination.Phase(rawValue: UInt8(clamping: $0)) }
        }
        renewal = try view.stored("r", or: 0, \.storedCount)
        flags = Self.storedFlags.reduce(into: []) { flags, member in
            if view[member.key] != nil { flags.insert(member.value) }
        }
        isOverOnPhone = view["po"] != nil
        startWaitsSince = view["ws"]?.integer.map(Instant.init(nanoseconds:))
        bound = view["pv"]?.json
        story = try view.stored("cf", or: .none) {
            $0.storedCount.flatMap { CardStory(rawValue: UInt8(clamping: $0)) }
        }
        formerSince = view["cs"]?.integer.map(Instant.init(nanoseconds:))
        cardSince = view["cb"]?.integer.map(Instant.init(nanoseconds:))
        startBucketFullAt = view["sb"]?.integer.map(Instant.init(nanoseconds:)) ?? .distantPast
        echo = Self.echo(view)
        acknowledged = try view.stored("v", or: 0, \.storedCountOrNone)
        alertsThrough = try view.stored("al", or: 0, \.storedCountOrNone)
        // Older relays stored one number, and still older ones only the timestamp of the last
        // attempt.
        let last = try view.stored("ts", or: 0, \.storedCount)
        let isList = view["tk"]?.kind == .array
        taken = TakenTimestamps(
            isList ? try view.storedCounts("tk") : [try view.stored("tk", or: last, \.storedCount)])
        bucketFullAt = view["b"]?.integer.map(Instant.init(nanoseconds:)) ?? .distantPast
        final = nil
        if let end = view["end"] {
            final = try Projection(
                stored: end, version: try end.stored("version", or: 0, \.storedCount))
        }
        deviceBucketFullAt = view["db"]?.integer.map(Instant.init(nanoseconds:)) ?? .distantPast
        frames = try Self.frames(view)
        ledger = Ledger(parts: try view.storedCounts("l"))
        keptAt = try view.stored("k", or: nil) { $0.storedSpan.map(Optional.some) }
        staleAt = view["st"]?.integer.map(Instant.init(nanoseconds:))
        unsettledSince = view["u"]?.integer.map(Instant.init(nanoseconds:))
        lastLocalUpdate = try view.stored("lu", or: 0, \.storedCount)
        lastSend = view["ls"]?.integer.map(Instant.init(nanoseconds:)) ?? .distantPast
        clip = try Self.clip(view)
    }

    private static func echo(_ view: JSONView) -> Echo {
        // The version is only compared. It is the highest number for an end that is not stored.
        let parts = view["e"]?.elements.compactMap(\.integer) ?? []
        return parts.count == 2 ? Echo(version: parts[0], count: Int(clamping: parts[1])) : Echo()
    }

    private static func frames(_ view: JSONView) throws(StoredValueError) -> FrameCounts {
        let counts = try view.storedCounts("f")
        // Older relays counted fewer reasons.
        guard counts.count >= 4 else { return FrameCounts() }
        let all = counts + [0, 0, 0]
        return FrameCounts(
            asked: all[..<7].reduce(0, +), sent: all[0], merged: all[1], slowed: all[2],
            noRoute: all[3], hidden: all[4], paused: all[5], unchanged: all[6],
            time: try view.stored("ft", or: .zero, \.storedSpan))
    }

    private static func clip(_ view: JSONView) throws(StoredValueError) -> Clip? {
        guard let list = view["c"] else { return nil }
        // The shown time is −1 if no frame was shown.
        let parts = list.elements.map { ($0.storedCount, $0.storedSpan, $0.integer) }
        guard parts.count == 5, let version = parts[0].0, let counted = parts[1].0,
            let pushed = parts[2].0, parts[3].1 != nil || parts[3].2 == -1,
            let elapsed = parts[4].1
        else { throw StoredValueError(member: "c") }
        return Clip(
            version: version, counted: counted, pushed: pushed, shownAt: parts[3].1,
            elapsed: elapsed)
    }
}

extension Checkpoint {
    /// True if no push was sent after `restoredAt`, so that the checkpoint is from the backup.
    func isOlder(than restoredAt: Instant) -> Bool {
        taken.counting(at: restoredAt) <= restoredAt.seconds + PacingState.timestampLeadMax
    }
}

extension Destination {
    /// Restores the values of the checkpoint that need no check.
    mutating func recall(_ checkpoint: Checkpoint) {
        alertsThrough = checkpoint.alertsThrough
        frames = checkpoint.frames
        keptAt = checkpoint.keptAt
        staleAt = checkpoint.staleAt
        for (_, flag) in Checkpoint.storedFlags { self[flag] = checkpoint.flags.contains(flag) }
        echo = checkpoint.echo
        cardSince = checkpoint.cardSince
        final = checkpoint.final
        bound = checkpoint.bound.map(BoundValue.init)
        story = checkpoint.story
    }

    /// The bytes of the checkpoint.
    ///
    /// - Parameters:
    ///   - activity: number of the activity.
    ///   - device: number of the device.
    ///   - budget: the device's budget, with what this destination has spent.
    ///   - now: the present time, and `wall` the same. A running clip is counted until then.
    func checkpoint(
        activity: Int64, device: Int64, budget: DeviceBudget?, now: Instant, wall: Instant
    ) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("a", activity)
            writer.member("d", device)
            writer.member("i", incarnation)
            // A reserved start may be sent at any moment, so after a crash it counts as tried.
            let phase = self[.reservedStart] ? Phase.startUnknown : phase
            writer.member("p", Int64(phase.rawValue))
            writer.member("v", acknowledged)
            writer.member("al", max(alertsThrough, reservedAlert ?? 0))
            writer.array("tk", of: pacing.taken.all) { $0.integer($1) }
            if !pacing.taken.isEmpty, pacing.lastSend > .distantPast {
                writer.member("ls", pacing.lastSend.nanoseconds)
            }
            if pacing.bucket.fullAt != .distantPast {
                writer.member("b", pacing.bucket.fullAt.nanoseconds)
            }
            if let full = budget?.bucket.fullAt, full != .distantPast {
                writer.member("db", full.nanoseconds)
            }
            if let full = budget?.starts.fullAt, full != .distantPast {
                writer.member("sb", full.nanoseconds)
            }
            if renewal > 0 { writer.member("r", renewal) }
            if self[.hasFallenBack] { writer.member("fb", Int64(1)) }
            if self[.wasDismissed] { writer.member("dm", Int64(1)) }
            if isOverOnPhone { writer.member("po", Int64(1)) }
            if self[.startWasRefused] { writer.member("sr", Int64(1)) }
            if self[.startWasSkipped] { writer.member("ss", Int64(1)) }
            if phase.isBeforeStart { writer.member("ws", startWaitsSince.nanoseconds) }
            if self[.wasMadeAnew] { writer.member("ma", Int64(1)) }
            if let value = bound?.shown { writer.member("pv", value) }
            if story != .none { writer.member("cf", Int64(story.rawValue)) }
            if let since = cardSince(tryingAt: now) { writer.member("cb", since.nanoseconds) }
            if let staleAt { writer.member("st", staleAt.nanoseconds) }
            if let since = pacing.unsettledSince { writer.member("u", since.nanoseconds) }
            if pacing.lastLocalUpdate > 0 { writer.member("lu", pacing.lastLocalUpdate) }
            // The repetition in flight may fail, so it still counts as owed.
            if self[.owesTrailing] || inFlight?.wish == .trailing { writer.member("ot", Int64(1)) }
            if echo.count > 0 {
                writer.array("e") { writer in
                    writer.integer(echo.version)
                    writer.integer(Int64(echo.count))
                }
            }
            writer.array("l", of: ledger.parts) { $0.integer($1) }
            writeFrames(into: &writer, wall: wall)
            writeEnd(into: &writer)
        }
        return writer.bytes
    }

    private func writeEnd(into writer: inout JSONWriter) {
        guard let final = final ?? nextFinal else { return }
        writer.object("end") { writer in
            writer.member("version", final.version)
            final.write(into: &writer)
        }
    }

    /// When the card began. With a reserved start it is `now`, because earlier tries made no card.
    func cardSince(tryingAt now: Instant) -> Instant? { self[.reservedStart] ? now : cardSince }

    private func writeFrames(into writer: inout JSONWriter, wall: Instant) {
        let all = frames + (cursor?.tally ?? FrameCounts())
        writer.array("f") { writer in
            for count in [
                all.sent, all.merged, all.slowed, all.noRoute, all.hidden, all.paused,
                all.unchanged,
            ] {
                writer.integer(count)
            }
        }
        if all.time > .zero { writer.member("ft", all.time.nanoseconds) }
        if let keptAt { writer.member("k", keptAt.nanoseconds) }
        guard let cursor else { return }
        writer.array("c") { writer in
            for part in [
                cursor.version, cursor.counted, cursor.pushed,
                (inFlight == nil ? cursor.shownAt : cursor.shownBefore)?.nanoseconds ?? -1,
                cursor.elapsed(at: wall).nanoseconds,
            ] {
                writer.integer(part)
            }
        }
    }
}
