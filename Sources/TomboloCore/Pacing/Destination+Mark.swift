import TomboloJSON

/// A destination's mark as it comes back from the log.
struct Mark: Sendable {
    var activity: Int64
    var device: Int64
    var incarnation: Int64
    var renewal: Int64
    var hasFallenBack: Bool
    var wasDismissed: Bool
    var startWasRefused: Bool
    var cardSince: Instant?
    var echo: Echo
    var startBucketFullAt: Instant
    var phase: Destination.Phase
    var acknowledged: Int64
    var alertsThrough: Int64
    var lastTimestamp: Int64
    var bucketFullAt: Instant
    var deviceBucketFullAt: Instant
    var frames: FrameCounts
    /// How its incarnation ended, where a restart came before its end was delivered.
    var final: Projection?
    var keptAt: Span?
    var staleAt: Instant?
    var lastLocalUpdate: Int64
    var owesTrailing: Bool
    var clip: Clip?
    var ledger: Ledger?

    /// How far a clip had come.
    struct Clip: Sendable {
        var version: Int64
        var counted: Int64
        var pushed: Int64
        var shownAt: Span?
        var elapsed: Span
    }

    init?(_ bytes: [UInt8]) {
        guard let document = try? JSONDocument(bytes) else { return nil }  // damage is the answer
        let view = document.root
        guard let activity = view["a"]?.integer, let device = view["d"]?.integer,
            let incarnation = view["i"]?.integer, let phase = view["p"]?.integer,
            let phase = Destination.Phase(rawValue: UInt8(clamping: phase))
        else { return nil }
        self.activity = activity
        self.device = device
        self.incarnation = incarnation
        self.phase = phase
        renewal = view["r"]?.integer ?? 0
        hasFallenBack = view["fb"] != nil
        wasDismissed = view["dm"] != nil
        startWasRefused = view["sr"] != nil
        cardSince = view["cs"]?.integer.map(Instant.init(nanoseconds:))
        startBucketFullAt = view["sb"]?.integer.map(Instant.init(nanoseconds:)) ?? .distantPast
        let echoes = view["e"]?.elements.compactMap(\.integer) ?? []
        echo =
            echoes.count == 2
            ? Echo(version: echoes[0], count: Int(clamping: echoes[1])) : Echo()
        acknowledged = view["v"]?.integer ?? 0
        alertsThrough = view["al"]?.integer ?? 0
        lastTimestamp = Self.second(view["ts"])
        bucketFullAt = view["b"]?.integer.map(Instant.init(nanoseconds:)) ?? .distantPast
        final = view["end"].flatMap { Projection($0, version: $0["version"]?.integer ?? 0) }
        deviceBucketFullAt = view["db"]?.integer.map(Instant.init(nanoseconds:)) ?? .distantPast
        let counts = view["f"]?.elements.compactMap(Self.count) ?? []
        frames = FrameCounts()
        // An older relay counted less.
        if counts.count >= 4 {
            let all = counts + [0, 0, 0]
            frames = FrameCounts(
                asked: counts.reduce(0, +), sent: all[0], merged: all[1], slowed: all[2],
                noRoute: all[3], hidden: all[4], paused: all[5], unchanged: all[6],
                time: Span(nanoseconds: view["ft"]?.integer ?? 0))
        }
        ledger = Ledger(parts: view["l"]?.elements.compactMap(Self.count) ?? [])
        keptAt = view["k"]?.integer.map(Span.init(nanoseconds:))
        staleAt = view["st"]?.integer.map(Instant.init(nanoseconds:))
        lastLocalUpdate = Self.second(view["lu"])
        owesTrailing = view["ot"] != nil
        let parts = view["c"]?.elements.compactMap(\.integer) ?? []
        if parts.count == 5 {
            clip = Clip(
                version: parts[0], counted: min(max(0, parts[1]), Self.countMax),
                pushed: min(max(0, parts[2]), Self.countMax),
                shownAt: parts[3] < 0 ? nil : Span(nanoseconds: parts[3]),
                elapsed: Span(nanoseconds: parts[4]))
        }
    }
}

extension Mark {
    /// No relay has counted further: sums of several stay within 64 bits.
    private static let countMax: Int64 = 1 << 53

    private static func count(_ view: JSONView) -> Int64? {
        view.integer.map { min(max(0, $0), countMax) }
    }

    /// A Unix time; what is outside the range of `Instant` is its nearer end.
    private static func second(_ view: JSONView?) -> Int64 {
        let number = view?.integer ?? 0
        return min(max(Instant.distantPast.seconds, number), Instant.distantFuture.seconds)
    }

    /// Whether nothing was sent since a restore.
    func isOlder(than restoredAt: Instant) -> Bool {
        lastTimestamp <= restoredAt.seconds + PacingState.timestampLeadMax
    }
}

extension Destination {
    /// - Parameters:
    ///   - activity: the activity's number.
    ///   - device: the device's number.
    ///   - budget: the device's, as it stands with what this destination has taken from it.
    ///   - wall: as far as a running clip is counted.
    func mark(
        activity: Int64, device: Int64, budget: DeviceBudget?, wall: Instant
    ) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("a", activity)
        writer.member("d", device)
        writer.member("i", incarnation)
        // What is reserved may be tried at any moment: to whoever reads this after a crash, it was.
        let phase = reservedStart ? Phase.startUnknown : phase
        writer.member("p", Int64(phase.rawValue))
        writer.member("v", acknowledged)
        writer.member("al", max(alertsThrough, reservedAlert ?? 0))
        writer.member("ts", pacing.lastTimestamp)
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
        if hasFallenBack { writer.member("fb", Int64(1)) }
        if wasDismissed { writer.member("dm", Int64(1)) }
        if startWasRefused { writer.member("sr", Int64(1)) }
        if let cardSince { writer.member("cs", cardSince.nanoseconds) }
        if let staleAt { writer.member("st", staleAt.nanoseconds) }
        if pacing.lastLocalUpdate > 0 { writer.member("lu", pacing.lastLocalUpdate) }
        // What is under way may come to nothing.
        if owesTrailing || inFlight?.wish == .trailing { writer.member("ot", Int64(1)) }
        if echo.count > 0 {
            writer.name("e")
            writer.beginArray()
            writer.integer(echo.version)
            writer.integer(Int64(echo.count))
            writer.endArray()
        }
        writer.name("l")
        writer.beginArray()
        for part in ledger.parts { writer.integer(part) }
        writer.endArray()
        writeFrames(into: &writer, wall: wall)
        if let final = final ?? nextFinal {
            writer.name("end")
            writer.beginObject()
            writer.member("version", final.version)
            final.write(into: &writer)
            writer.endObject()
        }
        writer.endObject()
        return writer.bytes
    }

    private func writeFrames(into writer: inout JSONWriter, wall: Instant) {
        let all = frames + (cursor?.tally ?? FrameCounts())
        writer.name("f")
        writer.beginArray()
        for count in [
            all.sent, all.merged, all.slowed, all.noRoute, all.hidden, all.paused, all.unchanged,
        ] {
            writer.integer(count)
        }
        writer.endArray()
        if all.time > .zero { writer.member("ft", all.time.nanoseconds) }
        if let keptAt { writer.member("k", keptAt.nanoseconds) }
        guard let cursor else { return }
        writer.name("c")
        writer.beginArray()
        for part in [
            cursor.version, cursor.counted, cursor.pushed,
            (inFlight == nil ? cursor.shownAt : cursor.shownBefore)?.nanoseconds ?? -1,
            cursor.elapsed(at: wall).nanoseconds,
        ] {
            writer.integer(part)
        }
        writer.endArray()
    }
}
