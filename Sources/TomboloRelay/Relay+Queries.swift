package import TomboloCore
package import TomboloEventLog
package import TomboloLoop

// What readers see, and waiting for it: only what is durable.

extension Relay {
    /// The durable state, with its clip sampled now; of one that left memory, its last.
    package func activity(_ key: ActivityKey) async -> ActivityView? {
        if let view = core.view(key, now: steadyNow()) { return view }
        guard core.mayHaveRetired(key),
            let found = try? await log.retired(named: [key]).first  // as in `recall`
        else { return nil }
        return Self.view(found)
    }

    private static func view(_ found: RecoveredHead) -> ActivityView? {
        ActivityView(PlacedHead(found))
    }

    /// A device with its tokens; whoever shows it redacts them.
    package func device(_ key: DeviceKey) -> DeviceView? { core.view(key, now: steadyNow()) }

    /// A user's devices, as registered now.
    package func devices(ofUser user: String, tenant: TenantID) -> [Identifier] {
        read { core, _ in core.devices(ofUser: user, tenant: tenant) }
    }

    /// What a device was given last to show.
    package func newestActivity(on key: DeviceKey) -> ActivityKey? {
        read { core, _ in core.newestActivity(on: key) }
    }

    /// What registered types say of an activity as it is now.
    package func typeCheck(_ key: ActivityKey) -> TypeCheck? {
        read { core, _ in core.typeCheck(key) }
    }

    /// The device of a tenant that has a token now, or had it when Apple called it dead: those are
    /// looked for a piece at a time.
    package func device(holding token: String, tenant: TenantID) async -> Identifier? {
        if let device = core.device(holding: token, tenant: tenant) { return device }
        var place = 0
        while place < core.devicePlaces {
            let places = place..<place + Self.devicesLookedAt
            if let device = core.device(thatHeld: token, tenant: tenant, in: places) {
                return device
            }
            place = places.upperBound
            await letOthersGo()
        }
        return nil
    }

    /// In one turn.
    private static let devicesLookedAt = 4_096

    /// Whether a command is the request that an event came from, in another spelling.
    package func isRequest(_ command: Command, of event: NewEvent) -> Bool {
        read { core, _ in core.isRequest(command, of: event) }
    }

    /// API keys as the doors encoded them.
    package func keys() -> [(number: Int64, value: [UInt8])] { core.storedKeys }

    /// The id behind a number of the log; nil where it is another tenant's, or cut.
    package func activityName(_ number: ActivityNumber, tenant: TenantID) async -> Identifier? {
        if let name = core.name(of: number, tenant: tenant) { return name }
        // As in `recall`.
        return try? await log.retired(number, tenant: tenant).flatMap(Self.view)?.key.id
    }

    /// What a tenant has done since the process began.
    package func counters(of tenant: TenantID) -> CoreCounters { core.counters(of: tenant) }

    /// Whether nobody else has an app here.
    package func isAlone(_ tenant: TenantID) -> Bool {
        core.configuration.apps.allSatisfy { $0.tenant == tenant }
    }

    /// How much is held in memory.
    package var sizes: CoreSizes {
        var sizes = core.sizes
        (sizes.inbox, sizes.unanswered) = backlog
        return sizes
    }

    /// The newest durable sequence.
    package var lastSeq: Int64 { core.lastSeq }

    package var lastFactSeq: Int64 { core.lastFactSeq }

    /// The newest durable event of a tenant, among its own; 0 where it has none.
    package func lastSeq(of tenant: TenantID) -> Int64 { core.place(of: tenant).command }

    /// The newest durable event and fact of a tenant, among its own; 0 where it has none.
    package func place(of tenant: TenantID) -> LogPlace { core.place(of: tenant) }

    /// Which log a tenant's places belong to.
    package func logID(of tenant: TenantID) -> LogID {
        core.deliveryIDs.log(of: tenant)
    }

    /// Wall time as the relay counts it: what it records events with.
    package func wallNow() -> Instant { core.wall(steadyNow()) }

    /// A page of the log.
    package nonisolated(nonsending) func events(
        _ query: EventQuery
    ) async throws(EventLogError) -> EventPage { try await log.events(query) }

    /// A page of the facts.
    package nonisolated(nonsending) func facts(
        _ query: FactQuery
    ) async throws(EventLogError) -> FactPage { try await log.facts(query) }

    /// One event of the log, by its place there.
    package nonisolated(nonsending) func event(
        seq: Int64, tenant: TenantID
    ) async throws(EventLogError) -> RecordedEvent? {
        try await log.event(seq: seq, tenant: tenant)
    }

    /// One event of a tenant, by its place among those of the tenant.
    package nonisolated(nonsending) func event(
        tenantSeq: Int64, tenant: TenantID
    ) async throws(EventLogError) -> RecordedEvent? {
        try await log.event(tenantSeq: tenantSeq, tenant: tenant)
    }

    /// One look at the core, now.
    func read<Value>(_ look: (Core, Instant) -> Value) -> Value { look(core, steadyNow()) }

    // MARK: Waiting

    /// Returns when a version is settled at every destination: taken by Apple, refused, or held by
    /// something that outlasts the deadline. At the deadline, and after `endWaits`, it returns what
    /// is.
    package func waitForDelivery(
        _ key: ActivityKey, version: Int64, deadline: MonotonicInstant
    ) async -> ActivityView? {
        while phase == .running, !waitsAreOver, loop.now < deadline, !Task.isCancelled {
            let left = Span(nanoseconds: deadline.nanoseconds - loop.now.nanoseconds)
            if core.isSettled(key, version: version, until: steadyNow() + left) { break }
            await watch(until: deadline)
        }
        return await activity(key)
    }

    /// Returns when the tenant's log may have a row for a reader that has read it up to `place`, or
    /// there is something else for that to do. Answers up to where there is none; nil: there may be
    /// one at once.
    ///
    /// - Parameter isDue: whether there is something else; asked on the loop, once a second.
    package func waitForRow(
        _ interest: LogInterest, of tenant: TenantID, after place: LogPlace,
        _ isDue: @escaping @Sendable () -> Bool
    ) async -> LogReach? {
        guard core.place(of: tenant) == place else { return nil }
        guard hasTurned, phase == .running else {
            await watch(until: loop.now + .milliseconds(10))
            return nil
        }
        // Facts that wait already are written soon from now on.
        if interest.takesFacts, core.lastFactSeq < core.knownFactSeq { scheduleTurn() }
        return await followers.wait(for: interest, of: tenant, isDue) ?? reach(of: tenant)
    }

    /// Wakes the readers that a batch has rows for, when it is durable and the core has it.
    func wakeFollowers(_ batch: AppendBatch, _ receipt: AppendReceipt) {
        followers.committed(batch, receipt, in: &core)
    }

    /// The newest rows of a tenant.
    package func reach(of tenant: TenantID) -> LogReach {
        LogReach(place: core.place(of: tenant), seq: core.lastSeq)
    }

    /// The relay is about to stop: who waits for a delivery or a row gets what is known now.
    package func endWaits() {
        waitsAreOver = true
        wakeWatchers()
        followers.wakeAll()
    }

    func watch(until deadline: MonotonicInstant) async {
        let place = Parking(loop)
        watchers.append(place)
        if await place.park(until: deadline) != .signal { watchers.removeAll { $0 === place } }
    }

    // MARK: What is described

    /// A registered type.
    package func type(_ name: String, app: String?, tenant: TenantID) -> TypeView? {
        core.typeView(name, app: app, tenant: tenant)
    }

    /// Dead letters, newest first, below `before`.
    package func deadLetters(
        _ query: DeadLetterQuery, before: Int64?, limit: Int
    ) -> (letters: [DeadLetter], next: Int64?) {
        core.deadLetters(query, before: before, limit: limit)
    }

    /// Those whose cause may still be there, since a moment.
    package func refusedPushes(of tenant: TenantID, since oldest: Instant) -> RefusedPushes {
        RefusedPushes(of: tenant, since: oldest, in: core)
    }
}
