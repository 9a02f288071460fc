import TomboloCore
import TomboloLoop
import TomboloRelay

// What is asked of the relay.

extension Seam {
    /// Whose device something is told of.
    func apply(to key: inout DeviceKey) {
        if mutant == .tenantLeftOut { key.tenant = world.plan.tenants[0] }
        if mutant == .startBudgetForgottenAtDelete { key.id = reborn.id(of: key) }
    }

    /// What the key behind something may say.
    func apply(to authority: inout DeviceAuthority) {
        if mutant == .userClaimed || mutant == .tokenTakenByStranger { authority = .operate }
    }

    /// What a phone tells. The mutant believes a phone when it says that it saw a token in the
    /// future, and takes none that was seen before.
    func tell(
        _ command: DeviceCommand, _ key: DeviceKey, _ authority: DeviceAuthority, _ relay: Relay
    ) async -> Answer {
        if mutant == .tokenSeenInTheFuture, case .putToken(let name, let registration) = command,
            let seen = registration.observedAt
        {
            let known = tokensSeen[TokenOfDevice(device: key, name: name)] ?? .distantPast
            if seen < known { return .stored(Stored(.outdated)) }
            tokensSeen[TokenOfDevice(device: key, name: name)] = seen
        }
        return await relay.submitDeviceCommand(changed(command, key), for: key, by: authority)
    }

    /// The mutants read a device's user once, or take its token for a new one after a deletion.
    private func changed(_ command: DeviceCommand, _ key: DeviceKey) -> DeviceCommand {
        switch (mutant, command) {
        case (.userKept, .register(var registration))
        where key.id.rawValue != World.strangerDevice:
            registration.user = usersKept[key] ?? registration.user
            usersKept[key] = registration.user
            return .register(registration)
        case (.startBudgetForgottenAtDelete, .delete):
            reborn.delete(key)
            return command
        case (.startBudgetForgottenAtDelete, .putToken(.start(let type), var registration)):
            registration.token = reborn.token(registration.token, of: key)
            return .putToken(.start(type: type), registration)
        default: return command
        }
    }

    /// The phone's network returns, and its app is launched again. A mutant's app
    /// forgets the cards' tokens that it did not begin to upload.
    func relaunch(_ phone: Phone) {
        guard mutant == .tokenForgottenAtRelaunch else { return }
        phone.uploads.removeAll { $0.card != nil && $0.token != nil && !$0.hasBegun }
    }

    /// An operator's pause. The mutant holds all activities, and nothing else.
    func pause(_ request: PauseRequest, of tenant: TenantID, _ relay: Relay) async -> Answer {
        guard mutant == .reloadThroughPause, !request.alertsOnly else {
            return await relay.submitPauseCommand(.pause(request), of: tenant)
        }
        switch request.scope {
        case .type, .activity: return await relay.submitPauseCommand(.pause(request), of: tenant)
        case .all, .app: break
        }
        var numbers: [Int64] = []
        var answer = Answer.acceptedAll([])
        for type in Plan.types.reversed() {
            var part = request
            part.scope = .type(type)
            answer = await relay.submitPauseCommand(.pause(part), of: tenant)
            if case .stored(let stored) = answer, let number = stored.number {
                numbers.append(number)
            }
        }
        if numbers.count == 2 { pairedPauses[numbers[1]] = numbers[0] }
        return answer
    }

    /// The end of one, by the number of its record.
    func resume(_ number: Int64, of tenant: TenantID, _ relay: Relay) async {
        for number in [pairedPauses.removeValue(forKey: number), number].compactMap(\.self) {
            let held = await relay.pauses(of: tenant).first { $0.number == number }
            // A tenant names a pause by the tenant's own count.
            _ = await relay.submitPauseCommand(.resume(held?.serial ?? number), of: tenant)
        }
    }

    /// An end for many. The mutant ends the oldest of them, and leaves the rest.
    func endMany(_ request: EndMany, _ relay: Relay) async -> Answer {
        let running = world.runningActivities().filter { $0.0 == request.tenant }
        guard mutant == .endLeavesTheRest, request.type == nil, request.user == nil,
            let (tenant, id) = running.first
        else { return await relay.endMany(request) }
        let command = Command(
            activity: ActivityKey(tenant: tenant, id: Plan.identifier(id)),
            content: .end(request.end), body: request.body)
        let answer = await relay.submit(command)
        guard case .accepted(let accepted) = answer else { return answer }
        return .acceptedAll([accepted])
    }

    /// An activity is about to begin on a named channel. The mutant has the channel forget what it
    /// has spent.
    func beginning(on name: String, of tenant: TenantID) async {
        let key = ChannelKey(tenant: tenant, name: Plan.identifier(name))
        guard mutant == .channelBudgetAnew, let life = world.life, life.isReady,
            let relay = life.relay, let channel = await relay.channel(key),
            await relay.activity(on: key) == nil, !life.isDead
        else { return }
        _ = await relay.submitChannelCommand(.deleted(key))
        guard !life.isDead else { return }
        _ = await relay.submitChannelCommand(
            .made(
                Channel(
                    tenant: channel.tenant, app: channel.app,
                    environment: channel.environment, name: key.name, id: channel.id,
                    storage: channel.storage)))
    }

    /// Who asks for a widget's entries. The mutant forgets it.
    func reader(_ reader: TimelineReader) -> TimelineReader {
        mutant == .doorOfAnother ? .anybody : reader
    }

    /// What a person did on a phone. The mutant counts its time from now.
    func action(_ action: DeviceAction) -> DeviceAction {
        guard mutant == .actionFromArrival else { return action }
        var action = action
        action.at = world.clock.now()
        return action
    }

    /// What a widget gets. The mutant gives a phone each answer twice, as a cache does that looks
    /// at no validator.
    func entries(_ entries: TimelineEntries, of phone: Phone) -> TimelineEntries {
        guard mutant == .entriesKept else { return entries }
        if let kept = entriesKept.removeValue(forKey: phone.number) { return kept }
        entriesKept[phone.number] = entries
        return entries
    }
}
