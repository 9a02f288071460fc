import TomboloJSON

extension Start {
    /// Tells an equal start from a different one: every byte of the producer's but the envelope
    /// counts.
    var digest: UInt64 {
        var hash = StableHash()
        hash.combine(type.utf8)
        hash.combine((app ?? "").utf8)
        hash.combine("\(audience) \(route.rawValue)".utf8)
        hash.combine(attributes.bytes)
        hash.combine(state.bytes)
        hash.combine(alert?.bytes ?? [])
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
