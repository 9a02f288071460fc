// Going on where the last relay stopped: from heads and records, never from history.

/// What start-up found.
package struct CoreRecovery: Sendable {
    package var heads: [(head: ActivityHead, version: Int64, seq: Int64)] = []
    package var records: [Record] = []
    package var idempotency: [(tenant: TenantID, key: IdempotencyKey, seq: Int64, at: Instant)] = []
    package var lastSeq: Int64 = 0
    package var lastFactSeq: Int64 = 0
    /// The highest number that an activity ever took, damaged ones included.
    package var lastActivity: Int64 = 0

    package init() {}
}

extension Core {
    /// Takes over what is durable. Answers one line for each thing that could not be read; it is
    /// set aside.
    package mutating func recover(_ recovery: CoreRecovery, now: Instant) -> [String] {
        var damage: [String] = []
        lastSeq = recovery.lastSeq
        lastFactSeq = recovery.lastFactSeq
        nextActivityNumber = recovery.lastActivity + 1
        for entry in recovery.idempotency {
            idempotency.record(entry.tenant, entry.key, seq: entry.seq, at: entry.at)
        }
        for entry in recovery.heads.sorted(by: { $0.head.activity < $1.head.activity }) {
            let number = entry.head.activity
            nextActivityNumber = max(nextActivityNumber, number.rawValue + 1)
            if let activity = Activity(
                head: entry.head.value, number: number, version: entry.version, seq: entry.seq)
            {
                adopt(activity)
            } else {
                damage.append("the head of activity number \(number.rawValue) cannot be read")
            }
        }
        let records = recovery.records.sorted { $0.number < $1.number }
        for record in records where record.space == .device {
            damage += adoptDevice(record)
        }
        for record in records where record.space == .key { keys[record.number] = record.value }
        for record in records where record.space == .pause { damage += adoptPause(record) }
        var deviceByNumber: [Int64: Int] = [:]
        for (slot, device) in devices.enumerated() {
            if let device { deviceByNumber[device.number] = slot }
        }
        for record in records where record.space == .mark {
            damage += adoptMark(record, deviceByNumber, now: now)
        }
        for slot in activities.indices where !activities[slot].hasEnded {
            enterAudience(slot, now: now)
        }
        for slot in destinations.indices { deadlines.set(slot, at: now) }
        return damage
    }

    private mutating func adopt(_ activity: Activity) {
        activityByKey[activity.key] = activities.count
        activityByNumber[activity.number] = activities.count
        activities.append(activity)
    }

    private mutating func adoptDevice(_ record: Record) -> [String] {
        nextDeviceNumber = max(nextDeviceNumber, record.number + 1)
        guard let value = record.value else { return [] }
        guard let device = Device(record: value, number: record.number) else {
            return ["the record of device number \(record.number) cannot be read"]
        }
        deviceByKey[device.key] = devices.count
        devices.append(device)
        enterUser(devices.count - 1)
        return []
    }

    private mutating func adoptMark(
        _ record: Record, _ deviceByNumber: [Int64: Int], now: Instant
    ) -> [String] {
        nextDestinationNumber = max(nextDestinationNumber, record.number + 1)
        guard let value = record.value else { return [] }
        guard let mark = Mark(value) else {
            return ["the mark of destination number \(record.number) cannot be read"]
        }
        guard let activity = activityByNumber[ActivityNumber(mark.activity)],
            let device = deviceByNumber[mark.device],
            let owner = devices[device],
            let lane = try? lane(of: owner.registration, tenant: owner.key.tenant)  // as below
        else { return [] }  // its device or app is gone: there is nobody to send to
        var destination = Destination(
            number: record.number, activity: activity, device: device,
            incarnation: mark.incarnation, lane: lane,
            ledger: mark.ledger ?? Ledger(since: mark.acknowledged + 1), phaseSince: now)
        // An attempt that was under way may have reached the phone.
        destination.phase = mark.phase == .starting ? .startUnknown : mark.phase
        destination.acknowledged = mark.acknowledged
        destination.alertsThrough = mark.alertsThrough
        destination.frames = mark.frames
        destination.keptAt = mark.keptAt
        destination.pacing.lastTimestamp = mark.lastTimestamp
        let grant = grantInForce(destination).grant
        destination.pacing.bucket = TokenBucket(fullAt: mark.bucketFullAt, of: grant)
        devices[device]?.budget.recover(
            grant.times(configuration.limits.deviceGrantFactor), fullAt: mark.deviceBucketFullAt,
            now: now)
        destination.pacing.recover(grant, now: now, wall: wall(now))
        if let token = owner.tokens[.activity(reference(destination))] {
            destination.token = token.value
            destination.tokenRegisteredAt = token.registeredAt
            if destination.phase != .ended, destination.phase != .gone { destination.phase = .live }
        } else if destination.phase == .live {
            destination.phase = .started
        }
        destination.markIsDirty = false
        let slot = insert(destination)
        if let clip = mark.clip { restore(clip, at: slot, now: now) }
        return []
    }
}
