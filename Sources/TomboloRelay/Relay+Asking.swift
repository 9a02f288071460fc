package import TomboloCore
import TomboloEventLog

// Questions and commands that go through the core.

extension Relay {
    /// One command; the answer comes when what it stored is durable.
    package func submit(_ command: Command) async -> Answer {
        guard await recall([command.activity]) else { return Self.stopping }
        return await ask { .command(command, $0) }
    }

    /// Many commands in one turn, each for itself; answers in their order.
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

    /// All or none.
    package func submitAtomically(_ commands: [Command]) async -> Answer {
        guard await recall(commands.map(\.activity)) else { return Self.stopping }
        return await ask { .atomic(commands, $0) }
    }

    /// Brings activities back into memory that had left it, so that what is asked of them is
    /// decided as ever. False where the log cannot say.
    func recall(_ keys: [ActivityKey]) async -> Bool {
        let missing = core.mayHaveRetired(among: keys)
        guard !missing.isEmpty else { return true }
        // A log that cannot be read takes nothing either.
        guard let found = try? await log.retired(named: missing) else { return false }
        for one in found {
            put(.remembered(PlacedHead(one)))
        }
        return true
    }

    /// What a device, or its backend, tells.
    package func submit(
        _ command: DeviceCommand, for device: DeviceKey, by authority: DeviceAuthority
    ) async -> Answer {
        await ask { .device(device, command, $0, by: authority) }
    }

    /// Why a key may not ask as a device; nil where it may.
    ///
    /// - Parameter registers: it registers the device, which need not be there.
    package func refusal(
        of authority: DeviceAuthority, for device: DeviceKey, registers: Bool
    ) -> Refusal? {
        read { core, _ in
            core.refusal(of: authority, for: device, registers: registers)
        }
    }

    /// Keeps an API key as the doors encoded it; nil deletes. With `deed` the log says who did it.
    package func storeKey(number: Int64, value: [UInt8]?, deed: Deed? = nil) async -> Answer {
        await storeKeys([(number, value)], deed: deed)
    }

    /// Keeps or deletes several API keys, in one commit.
    package func storeKeys(
        _ keys: [(number: Int64, value: [UInt8]?)], deed: Deed? = nil
    ) async -> Answer {
        await ask(deed: deed) { .keys(keys, $0) }
    }

    /// Keeps a deed that brings nothing about in the log itself.
    package func note(_ deed: Deed) { put(.deed(deed, Ticket(0))) }

    /// Registers a type of an app; `app` nil: the tenant's only one.
    package func storeType(
        _ type: ActivityType, named name: String, app: String?, tenant: TenantID, deed: Deed? = nil
    ) async -> Answer {
        await ask(deed: deed) { .type(type, name: name, app: app, tenant, $0) }
    }

    // MARK: Upstreams

    /// How many pushes a lane may have in flight; on the loop.
    package nonisolated func capacityChanged(_ lane: LaneNumber, to count: Int) {
        assumeIsolated { $0.put(.capacity(lane, count)) }
    }

    /// What kept pushes waiting there may be over: one tries at once; on the loop.
    package nonisolated func probe(_ lane: LaneNumber) {
        assumeIsolated { $0.put(.probe(lane)) }
    }
}
