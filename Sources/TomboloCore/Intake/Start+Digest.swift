import TomboloJSON

extension Start {
    /// A hash to compare starts by value. It covers all members of a start.
    var digest: UInt64 {
        digest { hash, json in
            withUnsafeBytes(of: json?.valueHash ?? 0) { hash.combine($0) }
        }
    }

    /// The same with the bytes of attributes, state and alert. Heads of older relays contain it.
    var digestOfBytes: UInt64 { digest { $0.combine($1?.bytes ?? []) } }

    /// True if `known`, a digest in the log, is this start's: by value, or by its bytes as sent.
    func has(_ known: UInt64, digest: UInt64) -> Bool {
        known == digest || known == digestAsSent ?? digestOfBytes
    }

    private func digest(_ combine: (inout StableHash, JSON?) -> Void) -> UInt64 {
        var hash = StableHash()
        hash.combine(type.utf8)
        hash.combine((app ?? "").utf8)
        hash.combine("\(audience) \(route.rawValue)".utf8)
        for json: JSON? in [attributes, state, alert] { combine(&hash, json) }
        if framesShowWhen == .always { hash.combine("frames always".utf8) }
        if let policy = onTokenGone { hash.combine("gone \(policy.rawValue)".utf8) }
        if let policy = onUnknownStart { hash.combine("unknown \(policy.rawValue)".utf8) }
        if let wait = startWait { hash.combine("wait \(wait.nanoseconds)".utf8) }
        if let span = endAfter { hash.combine("end \(span.nanoseconds)".utf8) }
        if urgency != .normal { hash.combine("urgency \(urgency.rawValue)".utf8) }
        if alertTTL != Alert.defaultTTL {
            hash.combine("ttl \(alertTTL.nanoseconds)".utf8)
        }
        if let policy = renew { hash.combine("renew \(policy.rawValue)".utf8) }
        hash.combine("\(relevance ?? .nan) \(staleAfter?.nanoseconds ?? 0)".utf8)
        return hash.value
    }
}
