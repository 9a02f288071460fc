import TomboloJSON

/// A destination's mark as it comes back from the log.
struct Mark: Sendable {
    var activity: Int64
    var device: Int64
    var incarnation: Int64
    var phase: Destination.Phase
    var acknowledged: Int64
    var alertsThrough: Int64
    var lastTimestamp: Int64
    var bucketFullAt: Instant
    var frames: FrameCounts
    /// How its incarnation ended, where a restart came before its end was delivered.
    var final: Projection?

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
        acknowledged = view["v"]?.integer ?? 0
        alertsThrough = view["al"]?.integer ?? 0
        lastTimestamp = view["ts"]?.integer ?? 0
        bucketFullAt = view["b"]?.integer.map(Instant.init(nanoseconds:)) ?? .distantPast
        final = view["end"].flatMap { Projection($0, version: $0["version"]?.integer ?? 0) }
        let counts = view["f"]?.elements.compactMap(\.integer) ?? []
        frames = FrameCounts()
        if counts.count == 4 {
            frames = FrameCounts(
                asked: counts.reduce(0, +), sent: counts[0], merged: counts[1], slowed: counts[2],
                noRoute: counts[3])
        }
    }
}

extension Destination {
    /// - Parameters:
    ///   - activity: the activity's number.
    ///   - device: the device's number.
    func mark(activity: Int64, device: Int64) -> [UInt8] {
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
        writer.name("f")
        writer.beginArray()
        for count in [frames.sent, frames.merged, frames.slowed, frames.noRoute] {
            writer.integer(count)
        }
        writer.endArray()
        if self.phase != .ended, let final = final ?? nextFinal {
            writer.name("end")
            writer.beginObject()
            writer.member("version", final.version)
            final.write(into: &writer)
            writer.endObject()
        }
        writer.endObject()
        return writer.bytes
    }
}
