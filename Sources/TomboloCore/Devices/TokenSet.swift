package import TomboloJSON

/// All the tokens that an app has at one moment: what is not among them is gone.
package struct TokenSet: Sendable {
    package var tokens: [(name: TokenName, registration: TokenRegistration)]
    /// When the app looked; a token registered later stays.
    package var observedAt: Instant?

    /// Reads the body of `PUT …/tokens`: `{"tokens":{NAME:{"token"}},"observed_at"}`; throws every
    /// fault it finds.
    package init(reading view: JSONView) throws(FieldErrors) {
        var reader = FieldReader(view)
        tokens = []
        observedAt = reader.instant("observed_at")
        let all = reader.object("tokens")
        if all == nil { reader.fail("tokens", "is missing: {NAME:{\"token\":…}}, or {} for none") }
        if let all, all.count > Device.tokensMax {
            reader.fail("tokens", "are more than the \(Device.tokensMax) that a device may have")
        } else if let all {
            var inner = FieldReader(all, pointer: reader.path("tokens"))
            for (text, value) in all.members {
                guard let name = TokenName(text) else {
                    inner.fail(text, "must be start:TYPE, activity:ID, widget or control:KIND")
                    continue
                }
                do throws(FieldErrors) {
                    tokens.append((name, try TokenRegistration(reading: value)))
                } catch {
                    for fault in error.errors {
                        reader.adopt(
                            FieldErrors([
                                FieldError(
                                    pointer: inner.path(text) + fault.pointer,
                                    message: fault.message)
                            ]))
                    }
                }
            }
            for fault in inner.errors { reader.adopt(FieldErrors([fault])) }
        }
        try reader.finish()
    }
}

extension Core {
    /// Makes a device's tokens what its app says they are.
    mutating func putTokens(
        _ set: TokenSet, _ slot: Int, now: Instant, effects: inout Effects
    ) throws(Refusal) {
        let observed = set.observedAt ?? wall(now)
        let named = Set(set.tokens.map(\.name))
        let gone = (devices[slot]?.tokens.all ?? []).filter {
            !named.contains($0.name) && $0.token.observedAt <= observed
        }
        for name in gone.map(\.name).sorted(by: { $0.text < $1.text }) {
            dropToken(name, slot, now: now, effects: &effects)
        }
        for (name, registration) in set.tokens {
            var registration = registration
            registration.observedAt = registration.observedAt ?? observed
            _ = try keepToken(name, registration, slot, now: now, effects: &effects)
        }
    }
}
