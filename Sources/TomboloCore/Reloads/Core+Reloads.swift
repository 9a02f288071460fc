import TomboloJSON

// Reloads of widgets and controls: pushes without content. They have budgets of their own (classes
// `widget` and `control`).

extension Core {
    /// Lets widgets or a control fetch new content, as a request asks.
    mutating func takeReloadRequest(
        _ request: ReloadRequest, of tenant: TenantID, _ ticket: Ticket, now: Instant
    ) {
        let (name, slots, unreachable) = reached(by: request, of: tenant)
        for slot in slots { wantReload(name, of: slot, now: now) }
        var stored = Stored(.updated)
        (stored.count, stored.unreachable) = (slots.count, unreachable)
        journal.answer(ticket, stored)
    }

    /// What a reload would reach. It sends nothing.
    package func dryRunReloads(_ request: ReloadRequest, of tenant: TenantID) -> Stored {
        let (_, slots, unreachable) = reached(by: request, of: tenant)
        var stored = Stored(.updated)
        (stored.count, stored.unreachable) = (slots.count, unreachable)
        return stored
    }

    private func reached(
        by request: ReloadRequest, of tenant: TenantID
    ) -> (name: TokenName, slots: [DeviceSlot], unreachable: Int) {
        let name: TokenName = request.control.map { .control(kind: $0) } ?? .widget
        var unreachable = 0
        let known: [DeviceSlot]
        switch request.audience {
        case .none, .channel: known = []
        case .devices(let ids):
            known = ids.compactMap { devices.slot(of: DeviceKey(tenant: tenant, id: $0)) }
            unreachable = ids.count - known.count
        case .user(let user): known = devices.slots(of: UserKey(tenant: tenant, user: user))
        }
        var slots: [DeviceSlot] = []
        for slot in known where isOf(request.app, slot) {
            if devices[slot]?.tokens[name] == nil { unreachable += 1 } else { slots.append(slot) }
        }
        return (name, slots, unreachable)
    }

    func isOf(_ app: String?, _ slot: DeviceSlot) -> Bool {
        guard let app, let device = devices[slot] else { return true }
        let own = device.registration.app ?? configuration.onlyApp(of: device.key.tenant)
        return own == app
    }

    mutating func wantReload(_ name: TokenName, of device: DeviceSlot, now: Instant) {
        let slot = surface(name, of: device)
        guard surfaces[slot].phase == .idle else {
            surfaces[slot].isWantedAgain = true
            return
        }
        surfaces[slot].phase = .wanted
        // The wish is stored in the same batch as the change that causes it.
        writeDevice(device)
        surfaces.deadlines.set(slot, at: now)
    }

    private mutating func surface(_ name: TokenName, of device: DeviceSlot) -> SurfaceSlot {
        if let known = devices[device]?.surfaces[name] { return known }
        let slot = surfaces.insert(ReloadSurface(device: device, name: name))
        devices[known: device].surfaces[name] = slot
        return slot
    }

    /// Removes a surface when its device is removed. Its slot is freed when nothing refers to it.
    mutating func forgetSurface(_ slot: SurfaceSlot) {
        surfaces.deadlines.set(slot, at: nil)
        surfaces[slot].isGone = true
        freeSurface(slot)
    }

    private mutating func freeSurface(_ slot: SurfaceSlot) {
        guard !surfaces[slot].isQueued, surfaces[slot].phase != .reserving else { return }
        surfaces[slot].phase = .idle
        surfaces.remove(slot)
    }

    // MARK: Sending

    /// Examines one surface: its reload is reserved, is sent, or waits.
    ///
    /// - Parameter isItsTurn: true if it has waited for a place in its upstream and gets it now.
    mutating func evaluateSurface(
        _ slot: SurfaceSlot, isItsTurn: Bool = false, now: Instant, effects: inout Effects
    ) {
        let surface = surfaces[slot]
        surfaces.deadlines.set(slot, at: nil)
        guard !surface.isGone else { return freeSurface(slot) }
        noteWork(onDevice: surface.device)
        switch surface.phase {
        case .idle, .reserving: return
        case .inFlight: return endReload(slot, .unknown(reason: "no answer in time"), now: now)
        case .wanted, .granted: break
        }
        guard let device = devices[surface.device],
            let upstream = configuration.upstream(of: device)
        else {
            surfaces[slot].phase = .idle
            return
        }
        guard let token = device.tokens[surface.name] else {
            // The reload waits for the next token.
            surfaces[slot].phase = .wanted
            return
        }
        let grant = configuration.budgets[surface.name == .widget ? .widget : .control]
        var due = max(surface.lastSend + grant.spacing, surface.backOffUntil)
        if !surface.holdsToken {
            due = max(due, surface.bucket.time(keeping: 0, of: grant, now: now) ?? now)
        }
        // The end of the pause wakes the surface.
        guard !isReloadPaused(device) else { return }
        guard due <= now else { return surfaces.deadlines.set(slot, at: due) }
        // On a slow disk, the reserved token may have expired before it is durable.
        guard surface.phase == .granted, surface.bucket.covers(grant, now: now) else {
            if surface.holdsToken {
                if !surface.bucket.covers(grant, now: now) {
                    surfaces[slot].bucket.renew(
                        grant, until: now + PacingState.slowReservation, now: now)
                }
            } else {
                surfaces[slot].bucket.take(grant, now: now + TokenBucket.reservation)
                surfaces[slot].holdsToken = true
            }
            surfaces[slot].phase = .reserving
            writeDevice(surface.device)
            journal.reserveSurface(slot)
            surfaces[slot].hasLostTurn = isItsTurn
            return
        }
        // If others wait already, a new surface waits behind them (rule 8).
        guard upstreams[upstream].isOpen(now: now), isItsTurn || !upstreams[upstream].hasWaiting
        else {
            guard !surface.isQueued else { return }
            surfaces[slot].isQueued = true
            enqueue(.surface(slot), in: upstream, must: surface.hasLostTurn, now: now)
            return
        }
        surfaces[slot].hasLostTurn = false
        sendReload(slot, device, token.value, upstream, now: now, effects: &effects)
    }

    private mutating func sendReload(
        _ slot: SurfaceSlot, _ device: Device, _ token: PushToken, _ upstream: UpstreamNumber,
        now: Instant,
        effects: inout Effects
    ) {
        let id = PushID(.surface(slot), at: upstream, count: destinations.takePush())
        let target: Push.Surface =
            surfaces[slot].name != .widget
            ? .control : device.systemMajor >= 26 ? .widgets : .background
        var push = Push(
            id: id, upstream: upstream, event: .update, token: token.text,
            apnsID: deliveryIDs.make(after: lastFactSeq, &chance).text,
            // Apple refuses background pushes with priority 10 ("Sending notification requests to
            // APNs").
            priority: target == .background ? 5 : 10,
            expiration: (wall(now) + .hours(1)).seconds, payload: Payload.reload(target))
        push.surface = target
        upstreams[upstream].took(now: now)
        surfaces[slot].phase = .inFlight(id)
        surfaces[slot].holdsToken = false
        surfaces[slot].sendBefore = surfaces[slot].lastSend
        surfaces[slot].lastSend = now
        surfaces[slot].isWantedAgain = false
        surfaces[slot].token = token
        surfaces.deadlines.set(slot, at: now + configuration.limits.inFlightMax)
        counters[device.key.tenant].pushesSent += 1
        effects.pushes.append(push)
    }

    // MARK: Outcomes

    mutating func reloadEnded(
        _ slot: SurfaceSlot, _ outcome: PushOutcome, now: Instant
    ) {
        guard surfaces.isInFlight(outcome.push, slot) else { return }
        endReload(slot, outcome.result, now: now)
        surfaces.wake(slot, now: now)
    }

    private mutating func endReload(_ slot: SurfaceSlot, _ result: PushResult, now: Instant) {
        let surface = surfaces[slot]
        surfaces.deadlines.set(slot, at: nil)
        switch result {
        case .accepted:
            surfaces[slot].refusalsInRow = 0
            surfaces[slot].phase = surface.isWantedAgain ? .wanted : .idle
            if let token = surface.token { _ = devices.noteTaken(token, of: surface.device) }
            noteReload(surface, "reload.sent", nil, now: now)
        case .rejected(let status, let reason, let reaches, let since):
            giveBack(slot)
            noteReload(surface, "reload.refused", "\(status) \(reason)", now: now)
            switch reaches {
            case .push, .topic: surfaces[slot].phase = surface.isWantedAgain ? .wanted : .idle
            case .tokenGone, .tokenMisplaced:
                surfaces[slot].phase = .wanted
                retireSurfaceToken(slot, "\(status) \(reason)", since: since, now: now)
            case .tokenBackOff, .providerToken, .connection, .upstream: again(slot, now: now)
            }
        case .notSent:
            giveBack(slot)
            again(slot, now: now)
        case .unknown: again(slot, now: now)
        }
        writeDeviceLater(surface.device, now: now)
        if surfaces[slot].phase == .wanted { surfaces.deadlines.set(slot, at: now) }
    }

    /// Gives back what a reload has spent that certainly did not reach the phone.
    private mutating func giveBack(_ slot: SurfaceSlot) {
        surfaces[slot].holdsToken = true
        surfaces[slot].lastSend = surfaces[slot].sendBefore
    }

    private mutating func again(_ slot: SurfaceSlot, now: Instant) {
        surfaces[slot].backOffUntil =
            now + PacingState.backOff(after: surfaces[slot].refusalsInRow)
        surfaces[slot].refusalsInRow += 1
        surfaces[slot].phase = .wanted
    }

    /// Retires a dead token. The reload then goes to the next token of the surface.
    private mutating func retireSurfaceToken(
        _ slot: SurfaceSlot, _ answer: String, since: Instant?, now: Instant
    ) {
        let surface = surfaces[slot]
        guard let device = devices[surface.device], let token = device.tokens[surface.name],
            token.value == surface.token
        else { return }
        if isDoubted(since, of: token, now: now) { return again(slot, now: now) }
        // The refusal is not before Apple's time for it, in case this relay's clock is behind.
        devices[known: surface.device].retire(
            surface.name,
            TokenStanding.Refusal(
                at: max(wall(now), since ?? .distantPast), answer: answer,
                environment: configuration.upstream(of: device).map {
                    configuration[$0].environment
                }))
        releaseToken(token.value, of: surface.device)
        writeDevice(surface.device)
    }

    /// Lets a waiting reload be sent after the surface has got a token.
    mutating func useSurfaceToken(_ name: TokenName, of device: DeviceSlot, now: Instant) {
        guard let slot = devices[device]?.surfaces[name], surfaces[slot].phase == .wanted else {
            return
        }
        surfaces.deadlines.set(slot, at: now)
    }

    /// Adds the device's record to the pending batch, which is written soon.
    private mutating func writeDeviceLater(_ device: DeviceSlot, now: Instant) {
        guard let known = devices[device] else { return }
        journal.write(record(of: known))
        journal.flushSoon(now: now)
    }

    private mutating func noteReload(
        _ surface: ReloadSurface, _ kind: String, _ reason: String?, now: Instant
    ) {
        guard let device = devices[surface.device] else { return }
        var writer = FactRecipient.body(about: device.recipient)
        writer.member("surface", surface.name.text)
        if let reason { writer.member("reason", reason) }
        writer.endObject()
        note(device.key.tenant, nil, kind, writer.bytes, now: now)
    }

    // MARK: Records

    /// The device's record, with wishes and budgets of its surfaces.
    func record(of device: Device) -> Record {
        let parts = device.surfaces.filter { surfaces[$0.value].isToBeRemembered }
            .map { (name: $0.key.text, parts: surfaces[$0.value].parts) }
            .sorted { $0.name < $1.name }
        return device.record(surfaces: parts)
    }

    // MARK: Leaving and coming back

    /// When the spent budgets of a device's widgets and controls are full again, if not by now.
    func surfaceBudgets(of device: DeviceSlot, now: Instant) -> [TokenName: Instant] {
        (devices[device]?.surfaces ?? [:]).mapValues { surfaces[$0].bucket.fullAt }
            .filter { $0.value > now }
    }

    /// Restores spent budgets after a device was deleted and registered again.
    mutating func recallSurfaces(
        _ spent: [TokenName: Instant], of device: DeviceSlot, now: Instant
    ) {
        for (name, full) in spent.sorted(by: { $0.key.text < $1.key.text }) {
            let slot = surface(name, of: device)
            guard full > surfaces[slot].bucket.fullAt else { continue }
            let grant = configuration.budgets[name == .widget ? .widget : .control]
            surfaces[slot].bucket = TokenBucket(fullAt: full, of: grant)
            surfaces[slot].bucket.clamp(grant, now: now)
            surfaces[slot].lastSend = now
        }
    }

    /// Restores wishes and budgets after a restart.
    mutating func recoverSurfaces(
        _ kept: [TokenName: [Int64]], of device: DeviceSlot, now: Instant
    ) {
        for (name, parts) in kept.sorted(by: { $0.key.text < $1.key.text }) where parts.count == 2 {
            let slot = surface(name, of: device)
            let grant = configuration.budgets[name == .widget ? .widget : .control]
            if parts[1] != 0 {
                surfaces[slot].bucket = TokenBucket(
                    fullAt: Instant(nanoseconds: parts[1]), of: grant)
                surfaces[slot].bucket.clamp(grant, now: now)
            }
            surfaces[slot].lastSend = now
            if parts[0] == 1 {
                surfaces[slot].phase = .wanted
                surfaces.deadlines.set(slot, at: now)
            }
        }
    }
}
