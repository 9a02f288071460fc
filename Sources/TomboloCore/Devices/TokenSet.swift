package import TomboloJSON

/// All tokens that an app has at one moment. Other tokens of the device are gone.
package struct TokenSet: Sendable {
    package var tokens: [(name: TokenName, registration: TokenRegistration)]
    /// When the app listed the tokens. Tokens that were registered later stay.
    package var observedAt: Instant?

    /// Reads the body of `PUT …/tokens`: `{"tokens":{NAME:{"token"}},"observed_at"}`. Throws
    /// `FieldErrors` with all faults.
    package init(reading view: JSONView) throws(FieldErrors) {
        var reader = FieldReader(view)
        tokens = []
        observedAt = reader.instant("observed_at")
        let all = reader.object("tokens")
        if all == nil { reader.fail("tokens", "is missing: {NAME:{\"token\":…}}, or {} for none") }
        if let all, all.count > Device.tokensMax {
            reader.fail("tokens", "are more than the \(Device.tokensMax) that a device may have")
        } else if let all {
            var inner = reader.inside(all, "tokens")
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
                                    pointer: "\(inner.path(text))\(fault.pointer)",
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
    /// Replaces the device's tokens by those in `set`. If one is refused, nothing changes.
    mutating func putTokens(
        _ set: TokenSet, _ slot: DeviceSlot, by authority: DeviceAuthority, now: Instant
    ) throws(Refusal) {
        guard let device = devices[slot] else { return }
        let gone = try gone(after: set, of: device, by: authority, now: now)
        for name in gone { dropToken(name, slot, now: now) }
        for (name, registration) in set.observed(at: wall(now)) {
            _ = try keepToken(
                name, registration, slot, by: authority, now: now)
        }
        // If the app's time is ahead of the relay's, the app's clock is wrong: use the relay's,
        // else later sets would count as older.
        let seen = min(set.observedAt ?? wall(now), wall(now))
        devices[known: slot].reconciledAt = max(device.reconciledAt, seen)
    }

    /// The names of the tokens that `set` removes. Throws if a token in `set` would be refused.
    func gone(
        after set: TokenSet, of device: Device, by authority: DeviceAuthority, now: Instant
    ) throws(Refusal) -> [TokenName] {
        let observed = min(set.observedAt ?? wall(now), wall(now))
        let named = Set(set.tokens.map(\.name))
        let gone = device.tokens.all.filter {
            !named.contains($0.name) && $0.token.observedAt <= observed
        }.map(\.name).sorted { $0.text < $1.text }
        var left = device
        for name in gone { left.tokens[name] = nil }
        for (name, registration) in set.observed(at: wall(now)) {
            guard let token = try judge(name, registration, of: left, by: authority, now: now)?.0
            else { continue }
            left.tokens[name] = token
            left.retired[name] = nil
        }
        return gone
    }
}

extension TokenSet {
    /// The tokens, each with the time at which the app observed it.
    fileprivate func observed(
        at wall: Instant
    ) -> [(name: TokenName, registration: TokenRegistration)] {
        tokens.map { name, registration in
            var registration = registration
            registration.observedAt = registration.observedAt ?? observedAt ?? wall
            return (name, registration)
        }
    }
}
