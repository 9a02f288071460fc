import TomboloJSON

/// The JSON object in a refusal or GOAWAY: `{"reason":"…","timestamp":…}`. It is not trusted.
struct APNsAnswerBody: Hashable, Sendable {
    /// Apple's bodies have fewer than 100 bytes; a longer or deeply nested one is not Apple's.
    static let limits = JSONLimits(depthMax: 8, bytesMax: 4_096)

    let reason: String?
    /// In milliseconds since 1970.
    let timestamp: Int64?

    /// If the bytes are not such a JSON object, both members are nil.
    init(_ bytes: [UInt8]) {
        guard !bytes.isEmpty,
            // It does not matter why parsing failed: then only the status counts.
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
