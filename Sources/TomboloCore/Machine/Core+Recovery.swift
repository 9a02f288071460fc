// Recovery at start-up from heads and records. It never reads the history.

extension Core {
    /// Restores the durable state. Returns a text for each thing that is set aside, because it
    /// cannot be read or has made relays crash.
    package mutating func recover(_ recovery: CoreRecovery, now: Instant) -> [String] {
        var damage: [String] = []
        clock.recover(
            lead: recovery.lead, recovery.leads, restoredAt: recovery.restoredAt,
            tellsThrough: recovery.tellsThrough, now: now)
        journal.recover(
            lastSeq: recovery.lastSeq, lastFactSeq: recovery.lastFactSeq, places: recovery.places)
        activities.skip(recovery.lastActivity)
        activities.hasRetired = recovery.hasRetired
        idempotency.recover(recovery.idempotency)
        deliveryIDs = DeliveryIDs(
            recovery.idempotency.hash, restoredAt: recovery.restoredAt)
        let damaged = adoptActivities(recovery, &damage, now: now)
        defer { workNote?.set(nil) }
        let (records, unknown) = recovery.known()
        damage += unknown
        damage += adoptRecords(records, restoredAt: recovery.restoredAt, now: now)
        for slot in devices.indices { adoptTokens(of: slot) }
        let before = recovery.predecessor(at: wall(now))
        var deviceByNumber: [Int64: DeviceSlot] = [:]
        for slot in devices.indices {
            if let device = devices[slot] { deviceByNumber[device.number] = slot }
        }
        for record in records where record.space == .checkpoint {
            damage += adoptCheckpoint(
                record, deviceByNumber, besides: damaged, after: before,
                restoredAt: recovery.restoredAt, now: now)
        }
        devices.adoptPresences(records, now: now) { clock.shownAt($0, now: now) }
        let firstWithout = destinations.indices.upperBound
        for slot in activities.indices where !activities[slot].hasEnded {
            enterAudience(slot, isRecovered: true, now: now)
        }
        // Destinations that have no checkpoint: if one has a token, it may have had pushes.
        for slot in firstWithout..<destinations.indices.upperBound
        where destinations.at(slot)?.token != nil {
            adoptPacing(slot, after: before, now: now)
        }
        recallBudgets(now: now)
        countEnds(now: now)
        recallEchoes(now: now)
        if let restoredAt = recovery.restoredAt { suppressGap(restoredAt, now: now) }
        for slot in destinations.indices {
            if destinations.at(slot)?.phase == .live { endPredecessor(of: slot, now: now) }
            destinations.deadlines.set(slot, at: now)
        }
        for slot in devices.indices {
            guard let kept = devices[slot]?.keptSurfaces, !kept.isEmpty else { continue }
            devices[known: slot].keptSurfaces = [:]
            recoverSurfaces(kept, of: slot, now: now)
        }
        recoverOrphans(now: now)
        recoverTimelines(now: now)
        for owed in OwedReload.all(in: records, &damage) {
            surfaces.owe(owed.number, wishes(of: owed))
        }
        return damage
    }

    /// Restores all activities. Returns the numbers of those that are set aside.
    private mutating func adoptActivities(
        _ recovery: CoreRecovery, _ damage: inout [String], now: Instant
    ) -> Set<ActivityNumber> {
        var left = recovery.damaged
        for entry in recovery.heads.sorted(by: { $0.head.activity < $1.head.activity }) {
            let number = entry.head.activity
            noteWork(on: number)
            if let count = recovery.trapped[WorkNote.Subject(nil, number.rawValue)] {
                left.append(DamagedActivity(entry, reason: WorkNote.reason(count)))
                continue
            }
            let activity: Activity
            do throws(StoredValueError) {
                guard (0..<ActivityNumber.max).contains(number.rawValue),
                    (0...StoredValueError.countMax).contains(entry.version)
                else { throw StoredValueError(member: "version") }
                activity = try Activity(
                    stored: entry.head.value, number: number, version: entry.version,
                    seq: entry.seq, tenantSeq: entry.tenantSeq)
                guard activities.slot(of: activity.key) == nil else {
                    throw StoredValueError(member: "id")
                }
            } catch {
                left.append(
                    DamagedActivity(
                        entry, reason: "its stored state cannot be read, \(error.reason)"))
                continue
            }
            activities.skip(number.rawValue)
            let spokeAt = clock.shownAt(activity.accepted.changedAt, now: now)
            let slot = activities.insert(activity)
            // Producers could send nothing while no relay ran, so give them at least one minute.
            activities.silences.set(
                slot, at: activity.endsBySilence(since: spokeAt).map { max($0, now + .minutes(1)) })
            retireLater(slot, now: now)
        }
        for activity in left { damage.append(activities.setAside(activity)) }
        return Set(left.map(\.number))
    }

    /// Restores the records that the checkpoints need, in an order in which each finds what it
    /// needs.
    private mutating func adoptRecords(
        _ records: [Record], restoredAt: Instant?, now: Instant
    ) -> [String] {
        var damage: [String] = []
        for space in [
            RecordSpace.device, .startHistory, .channel, .type, .deadLetter, .key, .pause,
            .timeline, .upstream,
        ] {
            for record in records where record.space == space {
                noteWork(on: record)
                damage += adopt(record, restoredAt: restoredAt, now: now)
            }
        }
        journal.write(devices.noteOwners(&keys))
        return damage + devices.adoptActions(records)
    }

    private mutating func adopt(
        _ record: Record, restoredAt: Instant?, now: Instant
    ) -> [String] {
        switch record.space {
        case .device: return adoptDevice(record)
        case .startHistory: return startHistories.adopt(record)
        case .channel: return adoptChannel(record, restoredAt: restoredAt, now: now)
        case .type: return types.adopt(record)
        case .deadLetter: return deadLetters.adopt(record)
        case .pause: return pauses.adopt(record)
        case .timeline: return adoptTimeline(record, now: now)
        case .upstream: return UpstreamRecord.adopt(record, &upstreams, of: configuration.apps)
        case .key: keys.adopt(record)
        // Restored later, because they need the devices. The shell reads those of the last space.
        case .checkpoint, .presence, .action, .owedReload, .relay: break
        }
        return []
    }

    /// Handles the restore of a backup: what happened after the backup may have reached the phones.
    /// So waiting alerts are dropped, and a start that seems not to have been tried counts as
    /// tried. New timestamps are later than the old ones anyway.
    private mutating func suppressGap(_ restoredAt: Instant, now: Instant) {
        // A refused start may have been retried since the backup, so that its card exists.
        journal.write(deadLetters.remove { $0.event == .start && $0.at <= restoredAt })
        for slot in destinations.indices {
            guard let destination = destinations.at(slot),
                let durable = activities[destination.activity].durable,
                durable.changedAt <= restoredAt
            else { continue }
            destinations[slot].alertsThrough = max(destination.alertsThrough, durable.version)
            if destination.phase == .waiting, wall(now) - restoredAt < activityLifeMax {
                destinations[slot].phase = .startUnknown
            }
            // The next relay could not tell that this state is from before the restore: record it.
            scheduleCheckpoint(slot, now: now)
        }
    }

    private mutating func adoptDevice(_ record: Record) -> [String] {
        devices.skip(record.number)
        guard let value = record.value, !devices.departed.adopt(record) else { return [] }
        guard let device = Device(record: value, number: record.number) else {
            return ["the record of device number \(record.number) cannot be read"]
        }
        guard device.leavingUntil == nil else {
            let slot = devices.insert(device)
            devices.adoptLeaving(slot)
            return []
        }
        guard devices.slot(of: device.key) == nil else {
            return ["the record of device number \(record.number) is set aside: another has its id"]
        }
        let slot = devices.insert(device)
        devices.register(slot, device.key)
        _ = devices.departed.remove(.deleted(device.key))
        devices.shareRegistration(slot)
        if let user = devices.enterUser(slot) { audiences.moveDevice(1, of: user) }
        return []
    }

    private mutating func adoptCheckpoint(
        _ record: Record, _ deviceByNumber: [Int64: DeviceSlot],
        besides damaged: Set<ActivityNumber>,
        after before: RelayClock.Predecessor?, restoredAt: Instant?, now: Instant
    ) -> [String] {
        destinations.skip(record.number)
        noteWork(on: record)
        guard let value = record.value else { return [] }
        let checkpoint: Checkpoint
        do throws(StoredValueError) { checkpoint = try Checkpoint(stored: value) } catch {
            let name = "the mark of destination number \(record.number)"
            return ["\(name) cannot be read: \(error.reason)"]
        }
        let number = ActivityNumber(checkpoint.activity)
        guard let activity = activities.slot(of: number) else {
            // The activity had left memory and was only remembered for a while. If it was started
            // again, its old cards are known to no device.
            if !damaged.contains(number) {
                journal.erase(.checkpoint, record.number)
            }
            return []
        }
        guard let device = deviceByNumber[checkpoint.device],
            let owner = devices[device],
            let upstream = configuration.upstream(of: owner)
        else { return [] }  // the app is not configured
        var destination = Destination(
            number: record.number, activity: activity, device: device,
            incarnation: checkpoint.incarnation, renewal: checkpoint.renewal, upstream: upstream,
            ledger: checkpoint.ledger ?? Ledger(since: checkpoint.acknowledged + 1), phaseSince: now
        )
        recall(checkpoint, in: &destination, restoredAt: restoredAt, now: now)
        destination.pacing.taken = checkpoint.taken
        destination.pacing.lastLocalUpdate = checkpoint.lastLocalUpdate
        let grant = grantInForce(destination).grant
        destination.pacing.bucket = TokenBucket(fullAt: checkpoint.bucketFullAt, of: grant)
        devices.budgets[device].recover(
            grant.times(configuration.limits.deviceGrantFactor),
            fullAt: checkpoint.deviceBucketFullAt,
            now: now)
        devices.budgets[device].recoverStarts(
            configuration.budgets[.start], fullAt: checkpoint.startBucketFullAt, now: now)
        giveToken(to: &destination, owner, now: now)
        destination[.checkpointIsDirty] = false
        let slot = insert(destination)
        // A token is recorded before it is used: without one, only a start can have been sent.
        let mayHaveSent =
            checkpoint.phase != .waiting || !checkpoint.taken.isEmpty || destination.token != nil
        adoptPacing(
            slot, after: mayHaveSent ? before : nil, last: checkpoint.lastSend, now: now)
        if let channel = owner.channel, channel.name == nil,
            destination.incarnation == activities[activity].durableIncarnation
        {
            activities[activity].channelDestination = slot
        }
        if let clip = checkpoint.clip { restore(clip, at: slot, now: now) }
        return []
    }

    /// Restores the pacing. A last push that is not recorded may have been sent until now.
    ///
    /// - Parameter last: when the last push went that is on record.
    private mutating func adoptPacing(
        _ slot: CardSlot, after before: RelayClock.Predecessor?, last: Instant = .distantPast,
        now: Instant
    ) {
        guard let destination = destinations.at(slot) else { return }
        let grant = grantInForce(destination).grant
        // If the clock was wrong before the restart, the state must be sent again.
        let sendsAgain = destinations[slot].sendsAgain(
            projection(slot)?.version, at: time(now), wasBehind: before?.wasBehind ?? false)
        let known = destinations[slot].pacing.taken
        destinations[slot].pacing.recover(
            grant, after: before, last: last, now: now, wall: wall(now))
        // A guess that is further ahead of the clock than a push may be must be recorded before the
        // new clock's reading. Any other the next relay makes again after a kill, so it can wait;
        // but it must be on record after an orderly stop, or before a clock is set back.
        let taken = destinations[slot].pacing.taken
        let isAhead = taken.latest > wall(now).seconds + PacingState.timestampLeadMax
        guard taken != known || sendsAgain, !destination[.checkpointIsDirty] else { return }
        guard isAhead || sendsAgain else {
            return scheduleCheckpoint(slot, mayWait: true, now: now)
        }
        destinations[slot][.checkpointIsDirty] = true
        journal.checkpoint(slot)
    }

    /// Counts ends that may have been sent before the restart. An end does not wait until its
    /// budget is durable, so the checkpoint may not contain what it has spent.
    private mutating func countEnds(now: Instant) {
        for slot in destinations.indices {
            guard destinations.at(slot)?.phase == .live, projection(slot)?.ending != nil else {
                continue
            }
            let grant = grantInForce(slot).grant
            destinations[slot].pacing.bucket.take(grant, now: now)
            destinations[slot].pacing.bucket.clamp(grant, now: now)
            takeFromDevice(slot, grant, now: now)
            let device = destinations[slot].device
            devices.budgets[device].bucket.clamp(
                grant.times(configuration.limits.deviceGrantFactor), now: now)
            destinations[slot][.checkpointIsDirty] = true
            journal.checkpoint(slot)
        }
    }

    /// Lets states be repeated whose repetition was missed while no relay ran.
    private mutating func recallEchoes(now: Instant) {
        for slot in destinations.indices {
            guard let destination = destinations.at(slot), destination.token != nil,
                let projection = projection(slot),
                destination.acknowledged >= projection.version,
                destination.echo.count(of: projection.version) == 0,
                projection.changedAt + configuration.limits.echoAfter <= wall(now)
            else { continue }
            destinations[slot].echo.signAt = now + Span(nanoseconds: 1)
        }
    }

    /// Restores the values of a checkpoint except budgets and tokens.
    private func recall(
        _ checkpoint: Checkpoint, in destination: inout Destination, restoredAt: Instant?,
        now: Instant
    ) {
        let activity = destination.activity
        // A start that was in flight may have reached the phone.
        destination.phase = checkpoint.phase == .starting ? .startUnknown : checkpoint.phase
        destination.acknowledged = checkpoint.acknowledged(
            of: activities[activity].durable?.version ?? 0, restoredAt: restoredAt)
        destination.recall(checkpoint)
        if destination.cardSince == nil {
            destination.cardSince = checkpoint.formerSince.map { clock.shownAt($0, now: now) }
        }
        // The lost part of the log may have had another card with this name, so a report may be
        // about that.
        destination.isOverOnPhone =
            checkpoint.isOverOnPhone && !(restoredAt.map(checkpoint.isOlder) ?? false)
        // Checkpoints of older relays do not have it.
        let waitsSince = checkpoint.startWaitsSince ?? wall(now)
        destination.startWaitsSince = clock.hasShown(waitsSince, now: now) ? waitsSince : wall(now)
        destination.pacing.unsettledSince = checkpoint.unsettledSince.map {
            clock.wall(clock.shownAt($0, now: now))
        }
        if destination.final == nil, isOfAnotherUser(destination) {
            destination.final = Projection.bareEnd(
                version: activities[activity].durable?.version ?? 0, at: wall(now))
        }
        if checkpoint.incarnation < activities[activity].durableIncarnation, checkpoint.final == nil
        {
            destination.final = activities[activity].durable.map {
                farewell(
                    to: destination.device, activity, $0, of: checkpoint.incarnation, now: now)
            }
            // The final state is not known, so the card ends now, with the state that this device
            // may see.
            destination.echo.confirmed(.max)
            destination[.hasForgottenEnd] = true
        }
    }

    /// Sets a destination's token and phase by its device's record, which is never older than the
    /// checkpoint.
    private func giveToken(to destination: inout Destination, _ owner: Device, now: Instant) {
        if let channel = owner.channel {
            destination.token = channel.isGone ? nil : PushToken(channel.id)
            if channel.isGone, !destination.isFinished { destination.phase = .gone }
        } else if let token = owner.tokens[.activity(reference(destination))] {
            destination.token = token.value
            if !destination.isFinished { destination.phase = .live }
        } else if destination.phase == .live {
            destination.phase = .started
        }
        // A checkpoint of an older relay has no time: the card is not older than its activity.
        if destination.cardSince == nil, owner.channel == nil,
            destination.phase == .live || destination.phase == .started
        {
            let startedAt = activities[destination.activity].definition.startedAt
            destination.cardSince = clock.shownAt(startedAt, now: now)
        }
    }
}

extension Checkpoint {
    /// After a restore, the phone may show a state that the log has lost, so send the state again.
    fileprivate func acknowledged(of newest: Int64, restoredAt: Instant?) -> Int64 {
        guard let restoredAt, isOlder(than: restoredAt) else { return acknowledged }
        return min(acknowledged, newest - 1)
    }
}
