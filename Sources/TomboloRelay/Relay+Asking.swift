package import TomboloCore
import TomboloEventLog

// Commands and queries that go through the core.

extension Relay {
    /// Runs one command. Returns when its changes are durable.
    package func submit(_ command: Command) async -> Answer {
        guard await recall([command.activity]) else { return Self.stopping }
        return await ask { .command(command, $0) }
    }

    /// Runs many commands in one turn, each independently. Returns their answers in order.
    package func submit(_ commands: [Command]) async -> [Answer] {
        guard !commands.isEmpty else { return [] }
        guard await recall(commands.map(\.activity)) else {
            return commands.map { _ in Self.stopping }
        }
        if let refusalOfAll { return commands.map { _ in refusalOfAll } }
        return await withUnsafeContinuation { continuation in
            let collection = AnswerCollection(commands.count, continuation)
            for (index, command) in commands.enumerated() {
                lastTicket += 1
                waiting[Ticket(lastTicket)] = .part(of: collection, index: index)
                put(.command(command, Ticket(lastTicket)))
            }
        }
    }

    /// Runs all commands or none.
    package func submitAtomically(_ commands: [Command]) async -> Answer {
        guard await recall(commands.map(\.activity)) else { return Self.stopping }
        return await ask { .atomic(commands, $0) }
    }

    /// Loads retired activities back into memory, so that commands for them are handled as usual.
    /// Returns false if the log cannot be read.
    func recall(_ keys: [ActivityKey]) async -> Bool {
        let missing = core.mayHaveRetired(among: keys)
        guard !missing.isEmpty else { return true }
        // If the log cannot be read, the command could not be stored either.
        guard let found = try? await log.retired(named: missing) else { return false }
        for one in found {
            put(.remembered(PositionedHead(one)))
        }
        return true
    }

    /// Runs a command that a device or its backend sent.
    package func submitDeviceCommand(
        _ command: DeviceCommand, for device: DeviceKey, by authority: DeviceAuthority
    ) async -> Answer {
        await ask { .device(device, command, $0, by: authority) }
    }

    /// Why a key may not act for a device; nil if it may.
    ///
    /// - Parameter registers: true if the command registers the device, which then need not exist.
    package func refusal(
        of authority: DeviceAuthority, for device: DeviceKey, registers: Bool
    ) -> Refusal? {
        read { core, _ in
            core.refusal(of: authority, for: device, registers: registers)
        }
    }

    /// Stores an encoded API key; nil as `value` deletes it. `deed` records the operator's action.
    package func storeKey(number: Int64, value: [UInt8]?, deed: Deed? = nil) async -> Answer {
        await storeKeys([(number, value)], deed: deed)
    }

    /// Stores or deletes several API keys in one commit.
    package func storeKeys(
        _ keys: [(number: Int64, value: [UInt8]?)], deed: Deed? = nil
    ) async -> Answer {
        await ask(deed: deed) { .keys(keys, $0) }
    }

    /// Records an operator's action that changes nothing else in the log.
    package func note(_ deed: Deed) { put(.deed(deed, Ticket(0))) }

    /// Registers a type of an app. If `app` is nil, the tenant must have only one app.
    package func storeType(
        _ type: ActivityType, named name: String, app: String?, tenant: TenantID, deed: Deed? = nil
    ) async -> Answer {
        await ask(deed: deed) { .type(type, name: name, app: app, tenant, $0) }
    }

    // MARK: Upstreams

    /// Sets how many pushes an upstream may have in flight. Call it on the loop.
    package nonisolated func capacityChanged(_ upstream: UpstreamNumber, to count: Int) {
        assumeIsolated { $0.put(.capacity(upstream, count)) }
    }

    /// Tries one push of a closed upstream now, because the cause may be gone. Call it on the loop.
    package nonisolated func probe(_ upstream: UpstreamNumber) {
        assumeIsolated { $0.put(.probe(upstream)) }
    }
}
