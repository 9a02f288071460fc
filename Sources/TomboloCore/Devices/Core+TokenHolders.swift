// Each token belongs to one device. If two devices shared it, the phone would get each push twice.

extension Core {
    /// The tenant's device that has this token now; nil if no device has it.
    package func device(holding token: String, tenant: TenantID) -> Identifier? {
        let value = PushToken(token)
        for index in configuration.apps.indices where configuration.apps[index].tenant == tenant {
            let place = TokenPlace(upstream: UpstreamNumber(Int32(index)), value: value)
            if let slot = devices.holder(of: place), let device = devices[slot] {
                return device.key.id
            }
        }
        return nil
    }

    /// The device that had a token when Apple declared it dead. Scans the slots in `places`,
    /// because such a query is too rare for an index.
    package func device(
        thatHeld token: String, tenant: TenantID, in places: Range<Int>
    ) -> Identifier? {
        let value = PushToken(token)
        for place in places.clamped(to: 0..<devices.count) {
            guard let device = devices[DeviceSlot(place)], device.key.tenant == tenant else {
                continue
            }
            if device.retired.values.contains(where: { $0.value == value }) {
                return device.key.id
            }
        }
        return nil
    }

    package var devicePlaces: Int { devices.count }

    /// Sets a device's token, or removes it if `token` is nil. Every change of a token is made
    /// here, except the removal after Apple's refusal.
    mutating func setToken(
        _ name: TokenName, _ token: Device.Token?, of slot: DeviceSlot, now: Instant
    ) {
        guard let device = devices[slot] else { return }
        let old = device.tokens[name]
        if let old, old.value != token?.value, case .start(let type) = name {
            keepHistory(ofToken: old.value, type: type, slot, now: now)
        }
        devices[known: slot].tokens[name] = token
        if let old, old.value != token?.value { releaseToken(old.value, of: slot) }
        if let token, let place = configuration.tokenPlace(of: token.value, device) {
            devices.hold(place, by: slot)
        }
    }

    /// Lets another device hold the token, unless this device still has it under another name.
    mutating func releaseToken(_ value: PushToken, of slot: DeviceSlot) {
        guard let device = devices[slot], let place = configuration.tokenPlace(of: value, device),
            !device.tokens.all.contains(where: { $0.token.value == value })
        else { return }
        devices.release(place, by: slot)
    }

    mutating func releaseTokens(of slot: DeviceSlot) {
        guard let device = devices[slot] else { return }
        for (_, token) in device.tokens.all {
            if let place = configuration.tokenPlace(of: token.value, device) {
                devices.release(place, by: slot)
            }
        }
    }

    /// The other device that has this token, and when its app observed the token last.
    private func otherHolder(
        of value: PushToken, than device: Device
    ) -> (slot: DeviceSlot, observedAt: Instant)? {
        guard let place = configuration.tokenPlace(of: value, device),
            let slot = devices.holder(of: place),
            let holder = devices[slot], holder.number != device.number
        else { return nil }
        let times = holder.tokens.all.compactMap { $0.token.value == value ? $0.token : nil }
        return (slot, times.map(\.observedAt).max() ?? .distantPast)
    }

    /// Decides whether a token that another device has may move to this device. Throws `tokenInUse`
    /// unless both devices have the same user or an operator asks. A device that is being deleted
    /// gives its tokens freely.
    ///
    /// - Returns: false if the other device observed the token later.
    func mayTake(
        _ value: PushToken, observedAt: Instant, for device: Device, by authority: DeviceAuthority
    ) throws(Refusal) -> Bool {
        guard let (slot, last) = otherHolder(of: value, than: device),
            devices[slot]?.leavingUntil == nil
        else { return true }
        let user = devices[slot]?.registration.user
        let isOneUser = user != nil && isSameText(user, device.registration.user)
        guard authority == .operate || isOneUser else {
            throw Refusal(
                .tokenInUse,
                "another device has this token; delete it there, or register the token with the "
                    + "key of an operator",
                errors: [FieldError(pointer: "/token", message: "is another device's")])
        }
        return last <= observedAt
    }

    /// Removes a token from the device that had it, because the device at `slot` gets it.
    mutating func takeFromOthers(
        _ value: PushToken, for slot: DeviceSlot, now: Instant
    ) {
        guard let device = devices[slot], let (other, _) = otherHolder(of: value, than: device)
        else { return }
        let names = devices[other]?.tokens.all.filter { $0.token.value == value }.map(\.name) ?? []
        for name in names {
            if case .activity(let reference) = name {
                moveCard(reference, from: other, to: slot, now: now)
            }
            dropToken(name, other, now: now)
        }
        writeDevice(other)
    }

    /// Settles at start-up who holds a token: older relays let two devices have the same one. With
    /// the same user, the newer registration keeps it; with different users, the older one.
    mutating func adoptTokens(of slot: DeviceSlot) {
        guard let device = devices[slot] else { return }
        for (name, token) in device.tokens.all {
            guard let place = configuration.tokenPlace(of: token.value, device) else { continue }
            guard let other = devices.holder(of: place), other != slot, let holder = devices[other],
                let first = holder.tokens.all.first(where: { $0.token.value == token.value })
            else {
                devices.hold(place, by: slot)
                continue
            }
            let user = holder.registration.user
            let isOneUser = user != nil && isSameText(user, device.registration.user)
            let isNewer = first.token.observedAt <= token.observedAt
            let (loser, lost) = isOneUser == isNewer ? (other, first.name) : (slot, name)
            devices[known: loser].tokens[lost] = nil
            if loser == other { devices.hold(place, by: slot) }
            writeDevice(loser)
        }
    }

    // MARK: Removal of tokens

    mutating func deleteToken(
        _ name: TokenName, _ token: TokenRegistration, _ key: DeviceKey, _ ticket: Ticket,
        now: Instant
    ) throws(Refusal) {
        let slot = try devices.registered(key)
        guard let device = devices[slot], device.mayDelete(name, token) else {
            journal.answerNow(ticket, .stored(Stored(.outdated)))
            return
        }
        dropToken(name, slot, now: now)
        writeDevice(slot)
        journal.answer(ticket, Stored(.deleted))
    }

    mutating func dropToken(
        _ name: TokenName, _ slot: DeviceSlot, now: Instant
    ) {
        noteToken("token.deleted", name, of: slot, now: now)
        setToken(name, nil, of: slot, now: now)
        guard case .activity(let reference) = name else { return }
        for index in devices[slot]?.destinations ?? [] {
            guard let destination = destinations.at(index),
                self.reference(destination) == reference,
                destination.phase == .live || destination.phase == .ended
            else { continue }
            destinations[index].token = nil
            guard destination.phase == .live else { continue }
            enter(.started, index, now: now)
            destinations.wakeFirst(index)
        }
    }
}
