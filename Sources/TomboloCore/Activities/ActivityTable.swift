/// All activities in memory by their places: how they are found, which of them run, and in which
/// order those that have ended leave.
///
/// A place is its activity's until `remove`; then the next activity takes it. An activity is read
/// and changed where it is.
struct ActivityTable: RandomAccessCollection, Sendable {
    private var rows = SlotArray<Tables.Activities, Activity>()
    private var free: [ActivitySlot] = []
    private var byKey: [ActivityKey: ActivitySlot] = [:]
    private var byNumber: [ActivityNumber: ActivitySlot] = [:]
    /// Set aside at start-up, because they cannot be followed.
    private var damaged: [ActivityKey: SetAside] = [:]
    /// Ended activities of each tenant, oldest first.
    private var ended: [TenantID: EndedQueue] = [:]
    private var running: [TenantID: Int] = [:]
    private(set) var runningInAll = 0
    /// When ended activities leave memory.
    var retirements = DeadlineHeap<Tables.Activities>()
    /// When running activities end by themselves: their producers have said nothing for so long.
    var silences = DeadlineHeap<Tables.Activities>()
    /// Some have left: the log may know activities that are not here.
    var hasRetired = false
    private var nextNumber: Int64 = 1

    var startIndex: ActivitySlot { rows.startIndex }
    var endIndex: ActivitySlot { rows.endIndex }

    subscript(slot: ActivitySlot) -> Activity {
        _read { yield rows[slot] }
        _modify { yield &rows[slot] }
    }

    // MARK: Finding

    func slot(of key: ActivityKey) -> ActivitySlot? { byKey[key] }

    func slot(of number: ActivityNumber) -> ActivitySlot? { byNumber[number] }

    /// How many have an id.
    var keyCount: Int { byKey.count }

    /// Whether the log may have to be asked for an activity that is not here.
    func mayHaveRetired(_ key: ActivityKey) -> Bool { hasRetired && byKey[key] == nil }

    func running(of tenant: TenantID) -> Int { running[tenant] ?? 0 }

    /// One more may run only where neither limit is reached.
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

    /// A recipient that has fewer may get one more.
    static func checkRunning(
        _ count: Int, _ recipient: String, _ limits: Limits
    ) throws(Refusal) {
        guard count >= limits.runningPerRecipientMax else { return }
        throw .full(
            "\(recipient) has \(count) running activities", "activities_per_user",
            "end those that are over")
    }

    // MARK: Numbers

    /// The highest number that an activity has.
    var newest: ActivityNumber { ActivityNumber(nextNumber - 1) }

    mutating func takeNumber() -> ActivityNumber {
        defer { nextNumber += 1 }
        return ActivityNumber(nextNumber)
    }

    /// No activity gets this number, or a lower one, any more.
    mutating func skip(_ number: Int64) { nextNumber = Swift.max(nextNumber, number + 1) }

    // MARK: Coming and leaving

    /// Gives an activity a place.
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

    /// Puts an activity back as it was before.
    mutating func restore(_ activity: Activity, at slot: ActivitySlot) {
        let isCounted = rows[slot].isCounted
        rows[slot] = activity
        rows[slot].isCounted = isCounted
        recount(slot)
    }

    /// Frees an activity's place; nothing may refer to it any more.
    mutating func remove(_ slot: ActivitySlot) {
        byKey[rows[slot].key] = nil
        byNumber[rows[slot].number] = nil
        retirements.set(slot, at: nil)
        silences.set(slot, at: nil)
        rows[slot].forget()
        recount(slot)
        free.append(slot)
    }

    /// Counts an activity that has begun, ended or left, or whose end is taken back.
    mutating func recount(_ slot: ActivitySlot) {
        let runs = !rows[slot].hasEnded
        guard runs != rows[slot].isCounted else { return }
        rows[slot].isCounted = runs
        running[rows[slot].key.tenant, default: 0] += runs ? 1 : -1
        runningInAll += runs ? 1 : -1
    }

    // MARK: Those that have ended

    /// Notes that an activity has ended; those that have left go from the queue.
    mutating func noteEnded(_ slot: ActivitySlot) {
        let tenant = rows[slot].key.tenant
        ended[tenant, default: EndedQueue()].append(slot, rows[slot].number)
        guard var queue = ended[tenant], queue.count > 1_024 + 2 * retirements.count else { return }
        ended[tenant] = nil
        queue.keep { isWaitingToLeave($0) }
        ended[tenant] = queue
    }

    /// The tenant's oldest that has ended and is in memory; it is no longer in the queue.
    mutating func nextEnded(of tenant: TenantID) -> ActivitySlot? {
        while let next = ended[tenant]?.removeFirst() {
            if isWaitingToLeave(next) { return next.slot }
        }
        return nil
    }

    /// Puts one back into the queue that could not leave yet.
    mutating func keepEnded(_ slot: ActivitySlot) {
        guard retirements.at(slot) != nil else { return }
        ended[rows[slot].key.tenant]?.append(slot, rows[slot].number)
    }

    private func isWaitingToLeave(_ one: EndedQueue.Place) -> Bool {
        rows[one.slot].number == one.number && rows[one.slot].hasEnded
            && retirements.at(one.slot) != nil
    }

    // MARK: Damage

    /// An activity that start-up has set aside.
    struct SetAside: Sendable {
        let activity: DamagedActivity
        let traits: DamagedActivity.Traits
    }

    /// Sets an activity aside: it is shown with the reason, and nothing else is done with it.
    /// Answers a line for the operator.
    mutating func setAside(_ activity: DamagedActivity) -> String {
        let number = activity.number
        if (0..<ActivityNumber.max).contains(number.rawValue) { skip(number.rawValue) }
        guard let traits = activity.traits else {
            return "activity number \(number.rawValue) is damaged, and nobody sees it: "
                + activity.reason
        }
        let key = traits.key
        // One that lives has begun anew under the id.
        if byKey[key] == nil { damaged[key] = SetAside(activity: activity, traits: traits) }
        return "activity \(key.id) of \(key.tenant.name) (number \(number.rawValue)) is damaged: "
            + "\(activity.reason); nothing of it is pushed until it is started anew"
    }

    /// Why nothing is done with it; nil where it is not damaged.
    func refusal(of key: ActivityKey) -> Refusal? {
        guard let one = damaged(key) else { return nil }
        return Refusal(
            .activityDamaged,
            "the activity is damaged: \(one.activity.reason); start it anew with PUT and "
                + "?restart=true")
    }

    func damaged(_ key: ActivityKey) -> SetAside? { damaged.isEmpty ? nil : damaged[key] }

    /// The number of the damaged activity in whose place this one has begun.
    func replacedNumber(by slot: ActivitySlot) -> ActivityNumber? {
        damaged(rows[slot].key)?.activity.number
    }

    /// The id behind the number of a damaged one, if it is that tenant's.
    func damagedName(of number: ActivityNumber, tenant: TenantID) -> Identifier? {
        let found = damaged.first { $0.value.activity.number == number }?.key
        return found?.tenant == tenant ? found?.id : nil
    }

    /// Damaged ones of a tenant, in the order of their ids, after one.
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

    /// One has begun anew: its damage is history.
    mutating func mend(_ slot: ActivitySlot) {
        if !damaged.isEmpty { damaged[rows[slot].key] = nil }
    }

    /// Takes over what another table has set aside.
    mutating func adoptDamage(of other: ActivityTable) { damaged = other.damaged }
}
