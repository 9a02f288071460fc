/// All activities in memory by their slots: look-up, counts of running ones, and the order in which
/// ended ones leave memory. A slot belongs to its activity until `remove`; then another activity
/// may get it. Activities are read and changed in place.
struct ActivityTable: RandomAccessCollection, Sendable {
    private var rows = SlotArray<Tables.Activities, Activity>()
    private var free: [ActivitySlot] = []
    private var byKey = ShardedDictionary<ActivityKey, ActivitySlot>()
    private var byNumber = ShardedDictionary<ActivityNumber, ActivitySlot>()
    /// Activities set aside at start-up because their state is unknown.
    private var damaged: [ActivityKey: SetAside] = [:]
    /// Ended activities of each tenant, oldest first.
    private var ended: [TenantID: EndedQueue] = [:]
    private var running: [TenantID: Int] = [:]
    private(set) var runningInAll = 0
    /// Number of cards of activities that have ended.
    private(set) var endedCards = 0
    /// Until then nothing leaves early, because nothing could.
    private var staysUntil = Instant.distantPast
    /// When ended activities leave memory.
    var retirements = DeadlineHeap<Tables.Activities>()
    /// When running activities end by themselves because their producers are silent.
    var silences = DeadlineHeap<Tables.Activities>()
    /// True once an activity has left memory: look an unknown one up in the log.
    var hasRetired = false
    private var nextNumber: Int64 = 1

    var startIndex: ActivitySlot { rows.startIndex }
    var endIndex: ActivitySlot { rows.endIndex }

    subscript(slot: ActivitySlot) -> Activity {
        @inline(__always) _read { yield rows[slot] }
        @inline(__always) _modify { yield &rows[slot] }
    }

    // MARK: Finding

    func slot(of key: ActivityKey) -> ActivitySlot? { byKey[key] }

    func slot(of number: ActivityNumber) -> ActivitySlot? { byNumber[number] }

    var keyCount: Int { byKey.count }

    /// True if the activity may have left memory, so that the log must be read.
    func mayHaveRetired(_ key: ActivityKey) -> Bool { hasRetired && byKey[key] == nil }

    func running(of tenant: TenantID) -> Int { running[tenant] ?? 0 }

    /// Throws if the tenant or the relay has as many running activities as allowed.
    func checkRunning(of tenant: TenantID, _ limits: Limits) throws(Refusal) {
        let remedy = "end those that are over (POST /v1/activities/end)"
        let own = running(of: tenant)
        guard own < limits.runningPerTenantMax else {
            throw .full("\(own) activities run", "activities_per_tenant", remedy)
        }
        guard runningInAll < limits.runningMax else {
            throw .full(
                "the relay has as many running activities as it keeps", "activities", remedy)
        }
    }

    /// Throws if the recipient has as many running activities as allowed.
    static func checkRunning(
        _ count: Int, _ recipient: String, _ limits: Limits
    ) throws(Refusal) {
        guard count >= limits.runningPerRecipientMax else { return }
        throw .full(
            "\(recipient) has \(count) running activities", "activities_per_user",
            "end those that are over")
    }

    // MARK: Numbers

    /// The highest number that is in use or was skipped.
    var newest: ActivityNumber { ActivityNumber(nextNumber - 1) }

    mutating func takeNumber() -> ActivityNumber {
        defer { nextNumber += 1 }
        return ActivityNumber(nextNumber)
    }

    /// Makes sure that no activity gets this number or a lower one.
    mutating func skip(_ number: Int64) { nextNumber = Swift.max(nextNumber, number + 1) }

    // MARK: Insertion and removal

    mutating func insert(_ activity: Activity) -> ActivitySlot {
        let slot = free.popLast() ?? rows.endIndex
        if slot == rows.endIndex {
            rows.append(activity)
        } else {
            rows[slot] = activity
        }
        byKey[activity.key] = slot
        byNumber[activity.number] = slot
        recount(slot)
        return slot
    }

    mutating func restore(_ activity: Activity, at slot: ActivitySlot) {
        let isCounted = rows[slot].isCounted
        rows[slot] = activity
        rows[slot].isCounted = isCounted
        recount(slot)
    }

    /// Removes an activity and frees its slot. Nothing may refer to the slot any more.
    mutating func remove(_ slot: ActivitySlot) {
        byKey[rows[slot].key] = nil
        byNumber[rows[slot].number] = nil
        retirements.set(slot, at: nil)
        silences.set(slot, at: nil)
        rows[slot].forget()
        recount(slot)
        free.append(slot)
    }

    /// Updates the counts after an activity has begun, ended or left memory, or an end was rolled
    /// back.
    mutating func recount(_ slot: ActivitySlot) {
        let runs = !rows[slot].hasEnded
        guard runs != rows[slot].isCounted else { return }
        rows[slot].isCounted = runs
        running[rows[slot].key.tenant, default: 0] += runs ? 1 : -1
        runningInAll += runs ? 1 : -1
        endedCards += rows[slot].destinations.count * (runs ? -1 : 1)
    }

    /// Counts a card that the activity has got (1) or lost (-1).
    mutating func countCard(_ count: Int, of slot: ActivitySlot) {
        if !rows[slot].isCounted { endedCards += count }
    }

    // MARK: Ended activities

    /// True if ended activities must leave early, because there are too many of them or of their
    /// cards.
    func areCrowded(_ limits: Limits, now: Instant) -> Bool {
        (retirements.count > limits.endedMax || endedCards > limits.overMax)
            && staysUntil <= now
    }

    /// Notes that no ended activity could leave early.
    mutating func stay(now: Instant) { staysUntil = now + .seconds(10) }

    /// When the next ended activity leaves memory.
    func nextRetirement(_ limits: Limits) -> Instant? {
        areCrowded(limits, now: .distantFuture)
            ? retirements.first.map { Swift.min($0, staysUntil) } : retirements.first
    }

    /// Adds an ended activity to its tenant's queue. A queue that has become too long loses its
    /// entries of activities that have left memory or run again.
    mutating func noteEnded(_ slot: ActivitySlot) {
        let tenant = rows[slot].key.tenant
        ended[tenant, default: EndedQueue()].append(slot, rows[slot].number)
        guard var queue = ended[tenant], queue.count > 1_024 + 2 * retirements.count else { return }
        ended[tenant] = nil
        queue.keep { isWaitingToLeave($0) }
        ended[tenant] = queue
    }

    /// Takes the tenant's oldest ended activity from the queue.
    mutating func nextEnded(of tenant: TenantID) -> ActivitySlot? {
        while let next = ended[tenant]?.removeFirst() {
            if isWaitingToLeave(next) { return next.slot }
        }
        return nil
    }

    /// Puts an ended activity that cannot leave memory yet back at the end of its tenant's queue.
    mutating func keepEnded(_ slot: ActivitySlot) {
        guard retirements.at(slot) != nil else { return }
        ended[rows[slot].key.tenant]?.append(slot, rows[slot].number)
    }

    private func isWaitingToLeave(_ one: EndedQueue.Place) -> Bool {
        rows[one.slot].number == one.number && rows[one.slot].hasEnded
            && retirements.at(one.slot) != nil
    }

    // MARK: Damage

    /// An activity that start-up has set aside, with its readable traits.
    struct SetAside: Sendable {
        let activity: DamagedActivity
        let traits: DamagedActivity.Traits
    }

    /// Sets an activity aside: readers see it with the reason, but it is not used. Returns a line
    /// for the operator.
    mutating func setAside(_ activity: DamagedActivity) -> String {
        let number = activity.number
        if (0..<ActivityNumber.max).contains(number.rawValue) { skip(number.rawValue) }
        guard let traits = activity.traits else {
            return "activity number \(number.rawValue) is damaged, and nobody sees it: "
                + activity.reason
        }
        let key = traits.key
        // If this id is in memory already, the activity was started again: keep the new one.
        if byKey[key] == nil { damaged[key] = SetAside(activity: activity, traits: traits) }
        return "activity \(key.id) of \(key.tenant.name) (number \(number.rawValue)) is damaged: "
            + "\(activity.reason); nothing of it is pushed until it is started again"
    }

    /// The refusal of a command to a damaged activity; nil if it is not damaged.
    func refusal(of key: ActivityKey) -> Refusal? {
        guard let one = damaged(key) else { return nil }
        return Refusal(
            .activityDamaged,
            "the activity is damaged: \(one.activity.reason); start it again with PUT and "
                + "?restart=true")
    }

    func damaged(_ key: ActivityKey) -> SetAside? { damaged.isEmpty ? nil : damaged[key] }

    /// The number of the damaged activity whose id this activity has taken; nil if there is none.
    func replacedNumber(by slot: ActivitySlot) -> ActivityNumber? {
        damaged(rows[slot].key)?.activity.number
    }

    /// The id of the damaged activity with this number, if it belongs to the tenant.
    func damagedName(of number: ActivityNumber, tenant: TenantID) -> Identifier? {
        let found = damaged.first { $0.value.activity.number == number }?.key
        return found?.tenant == tenant ? found?.id : nil
    }

    /// A tenant's damaged activities of `type` (nil: of all types) whose ids follow `after`, by id.
    func damaged(
        of tenant: TenantID, type: String?, after: Identifier?, limit: Int
    ) -> [SetAside] {
        guard !damaged.isEmpty else { return [] }
        let found = damaged.values.filter { one in
            one.traits.key.tenant == tenant && isSameText(type ?? one.traits.type, one.traits.type)
                && (after.map { $0 < one.traits.key.id } ?? true)
        }.sorted { $0.traits.key.id < $1.traits.key.id }
        return Array(found.prefix(limit))
    }

    /// Forgets the damage of an activity that was started again.
    mutating func mend(_ slot: ActivitySlot) {
        if !damaged.isEmpty { damaged[rows[slot].key] = nil }
    }

    mutating func adoptDamage(of other: ActivityTable) { damaged = other.damaged }
}
