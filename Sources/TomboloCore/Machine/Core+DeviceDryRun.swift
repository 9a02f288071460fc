// Dry runs of requests of devices and operators. They change nothing.

extension Core {
    /// The answer that a device's command would get now. Throws the refusal that it would get.
    package func dryRunDeviceCommand(
        _ command: DeviceCommand, for key: DeviceKey, by authority: DeviceAuthority, now: Instant
    ) throws(Refusal) -> Stored {
        try devices.checkOwner(of: key, authority, registers: command.isRegistration, deliveryIDs)
        if case .register(let registration) = command {
            return try admitRegistration(registration, key, by: authority).1
        }
        guard let device = devices[try devices.registered(key)] else { return Stored(.outdated) }
        switch command {
        case .register, .report: return Stored(.updated)
        case .delete:
            var stored = Stored(.deleted)
            stored.endsWaiting = endsWaiting(of: try devices.registered(key), now: now)
            return stored
        case .deleteToken(let name, let token):
            return Stored(device.mayDelete(name, token) ? .deleted : .outdated)
        case .putToken(let name, let registration):
            let judged = try judge(name, registration, of: device, by: authority, now: now)
            return Stored(
                judged?.1 ?? .outdated, lint: device.refusedTokenLints(of: [(name, registration)]))
        case .putTokens(let set):
            _ = try gone(after: set, of: device, by: authority, now: now)
            return Stored(.updated, lint: device.refusedTokenLints(of: set.tokens))
        case .action(let action):
            let action = action.arrived(at: wall(now), clockIsBehind: clock.isBehind)
            _ = try check(action, of: device, now: now)
            return Stored(.created)
        case .presence(let report):
            guard hasRoom else { throw Self.noRoom }
            return hearing(report, of: device, now: now).stored
        }
    }

    /// Why the key may not act for this device; nil if it may.
    ///
    /// - Parameter registers: true for a registration, for which the device need not exist.
    package func refusal(
        of authority: DeviceAuthority, for key: DeviceKey, registers: Bool
    ) -> Refusal? {
        do throws(Refusal) {
            try devices.checkOwner(of: key, authority, registers: registers, deliveryIDs)
            if !registers { _ = try devices.registered(key) }
            return nil
        } catch {
            return error
        }
    }

    /// The pause that the command would begin or end.
    package func dryRunPause(
        _ command: PauseCommand, of tenant: TenantID, now: Instant
    ) throws(Refusal) -> Pause {
        try pauses.pause(of: command, tenant, since: wall(now))
    }
}
