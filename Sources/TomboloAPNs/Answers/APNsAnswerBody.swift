import TomboloJSON

/// The JSON object of a refusal or of a GOAWAY: `{"reason":"…","timestamp":…}`, as a stranger wrote
/// it.
struct APNsAnswerBody: Hashable, Sendable {
    /// Apple's have fewer than a hundred bytes; a longer body, or a nested one, is not Apple's.
    static let limits = JSONLimits(depthMax: 8, bytesMax: 4_096)

    let reason: String?
    /// Milliseconds since 1970.
    let timestamp: Int64?

    /// Anything that is no such object leaves both members nil.
    init(_ bytes: [UInt8]) {
        guard !bytes.isEmpty,
            // Why it is unreadable is of no use: the status is what then counts.
            let document = try? JSONDocument(bytes, limits: Self.limits)
        else {
            reason = nil
            timestamp = nil
            return
        }
        reason = document.root["reason"]?.string
        timestamp = document.root["timestamp"]?.integer
    }
}
