package import TomboloCore
package import TomboloEventLog
package import TomboloLoop

// Queries, and waiting for changes. All results show durable state only.

extension Relay {
    /// The activity's durable state, with the present frame of its clip. For a retired activity,
    /// its last state.
    package func activity(_ key: ActivityKey) async -> ActivityView? {
        if let view = core.view(key, now: steadyNow()) { return view }
        guard core.mayHaveRetired(key),
            let found = try? await log.retired(named: [key]).first  // also if unreadable
        else { return nil }
        return Self.view(found)
    }

    private static func view(_ found: RecoveredHead) -> ActivityView? {
        ActivityView(PositionedHead(found))
    }

    /// A device with its complete tokens: the caller must hide them.
    package func device(_ key: DeviceKey) -> DeviceView? { core.deviceView(key, now: steadyNow()) }

    /// A user's currently registered devices.
    package func devices(ofUser user: String, tenant: TenantID) -> [Identifier] {
        read { core, _ in core.devices(ofUser: user, tenant: tenant) }
    }

    /// The tenant's device that has a token now, or else the one that had it when Apple reported it
    /// as invalid. The second search is done in pieces.
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

    /// Number of devices that are examined in one turn.
    private static let devicesLookedAt = 4_096

    /// The encoded API keys.
    package func keys() -> [(number: Int64, value: [UInt8])] { core.storedKeys }

    /// The id of the activity with this number; nil if it belongs to another tenant or was deleted
    /// from the log.
    package func activityName(_ number: ActivityNumber, tenant: TenantID) async -> Identifier? {
        if let name = core.name(of: number, tenant: tenant) { return name }
        // If the log cannot be read, the name is treated as unknown.
        return try? await log.retired(number, tenant: tenant).flatMap(Self.view)?.key.id
    }

    /// Counters of a tenant since the process began.
    package func counters(of tenant: TenantID) -> CoreCounters { core.counters(of: tenant) }

    /// True if no other tenant has an app in this relay.
    package func isAlone(_ tenant: TenantID) -> Bool {
        core.configuration.apps.allSatisfy { $0.tenant == tenant }
    }

    /// `main`, and all tenants of the configuration.
    package var tenants: Set<TenantID> {
        Set(core.configuration.apps.map(\.tenant)).union([.main])
    }

    /// Sizes of the data in memory.
    package var sizes: CoreSizes {
        var sizes = core.sizes
        (sizes.inbox, sizes.unanswered) = backlog
        return sizes
    }

    /// The newest durable sequence.
    package var lastSeq: Int64 { core.lastSeq }

    package var lastFactSeq: Int64 { core.lastFactSeq }

    /// Place of a tenant's newest durable event among its own; 0 if it has none.
    package func lastSeq(of tenant: TenantID) -> Int64 { core.place(of: tenant).command }

    /// Places of a tenant's newest durable event and fact among its own; 0 if it has none.
    package func place(of tenant: TenantID) -> LogPlace { core.place(of: tenant) }

    /// The id of the log to which a tenant's places belong.
    package func logID(of tenant: TenantID) -> LogID {
        core.deliveryIDs.log(of: tenant)
    }

    /// The relay's wall time, which recorded events carry.
    package func wallNow() -> Instant { core.wall(steadyNow()) }

    /// A page of the log.
    package nonisolated(nonsending) func events(
        _ query: EventQuery
    ) async throws(EventLogError) -> EventPage { try await log.events(query) }

    /// A page of the facts.
    package nonisolated(nonsending) func facts(
        _ query: FactQuery
    ) async throws(EventLogError) -> FactPage { try await log.facts(query) }

    /// One event, by its sequence in the log.
    package nonisolated(nonsending) func event(
        seq: Int64, tenant: TenantID
    ) async throws(EventLogError) -> RecordedEvent? {
        try await log.event(seq: seq, tenant: tenant)
    }

    /// One event of a tenant, by its place among the tenant's events.
    package nonisolated(nonsending) func event(
        tenantSeq: Int64, tenant: TenantID
    ) async throws(EventLogError) -> RecordedEvent? {
        try await log.event(tenantSeq: tenantSeq, tenant: tenant)
    }

    /// Calls `look` with the core and the present time.
    package func read<Value>(_ look: (borrowing Core, Instant) -> Value) -> Value {
        look(core, steadyNow())
    }

    /// The same for a question or a dry run that the core may refuse. It changes nothing.
    package func attempt<Value: Sendable>(
        _ look: (borrowing Core, Instant) throws(Refusal) -> Value
    ) -> Result<Value, Refusal> {
        Result { () throws(Refusal) in try look(core, steadyNow()) }
    }

    // MARK: Waiting

    /// Returns the activity's state as soon as the version is settled at every destination:
    /// accepted by Apple, refused, or held beyond the deadline. Otherwise returns it at the
    /// deadline, or when `endWaits` is called.
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

    /// Waits until the tenant's log may have a row for a reader that has read up to `place`, or
    /// until the reader has other work. Returns a point up to which there is no row for it; nil if
    /// there may be one already.
    ///
    /// - Parameter isDue: true if the reader has other work. Called on the loop, once a second.
    package func waitForRow(
        _ interest: LogInterest, of tenant: TenantID, after place: LogPlace,
        _ isDue: @escaping @Sendable () -> Bool
    ) async -> LogReach? {
        guard core.place(of: tenant) == place else { return nil }
        guard hasTurned, phase == .running else {
            await watch(until: loop.now + .milliseconds(10))
            return nil
        }
        // From now on a follower waits, so facts that are already known must be written soon.
        if interest.takesFacts, core.lastFactSeq < core.knownFactSeq { scheduleTurn() }
        return await followers.wait(for: interest, of: tenant, isDue) ?? reach(of: tenant)
    }

    /// Wakes readers for which a batch has rows. The batch is durable and the core has applied it.
    func wakeFollowers(_ batch: AppendBatch, _ receipt: AppendReceipt) {
        followers.committed(batch, receipt, in: &core)
    }

    /// Places of a tenant's newest rows.
    package func reach(of tenant: TenantID) -> LogReach {
        LogReach(place: core.place(of: tenant), seq: core.lastSeq)
    }

    /// Ends all waits because the relay will stop: they return the present state.
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

    // MARK: Types and dead letters

    /// A registered type.
    package func type(_ name: String, app: String?, tenant: TenantID) -> TypeView? {
        core.typeView(name, app: app, tenant: tenant)
    }

    /// Dead letters, newest first, with serials below `before`.
    package func deadLetters(
        _ query: DeadLetterQuery, before: Int64?, limit: Int
    ) -> (letters: [DeadLetter], next: Int64?) {
        core.deadLetters(query, before: before, limit: limit)
    }

    /// The pushes that Apple refused since a moment, if the cause may still exist.
    package func refusedPushes(of tenant: TenantID, since oldest: Instant) -> RefusedPushes {
        RefusedPushes(of: tenant, since: oldest, in: core)
    }
}
