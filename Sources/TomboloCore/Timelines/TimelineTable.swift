/// All timelines, where they are found, and when their producers are to be asked.
///
/// It owns its rows: nothing else of the core changes them.
struct TimelineTable: Sendable {
    private var rows = SlotArray<Tables.Timelines, StoredTimeline?>()
    private var free: [TimelineSlot] = []
    private var slots: [TimelineKey: TimelineSlot] = [:]
    /// Those of a subject, of all kinds; by it a device finds what it may show.
    private var bySubject: [SubjectKey: [TimelineSlot]] = [:]
    /// Those of subjects `key`, by each user who may read them, and by kind.
    private var byReader: [SubjectKey: [Identifier: [TimelineSlot]]] = [:]
    /// Those that show an activity's state.
    private var byActivity: [ActivityKey: [TimelineSlot]] = [:]
    private var sizes: [TenantID: Size] = [:]
    private var nextNumber: Int64 = 1
    /// By wall time.
    private var deadlines = DeadlineHeap<Tables.Timelines>()
    /// Those whose dates go by other clocks since, and are not looked at yet.
    private var moved: [ArraySlice<TimelineSlot>] = []

    private struct SubjectKey: Hashable {
        var tenant: TenantID
        var subject: TimelineSubject
    }

    /// What a tenant's timelines take.
    struct Size: Hashable, Sendable {
        var count = 0
        var bytes = 0
    }

    /// When the next producer is to be asked, by wall time.
    var nextDue: Instant? { deadlines.first }

    /// The number that a timeline has, or that a new one would get.
    func number(of key: TimelineKey) -> Int64 { self[key]?.number ?? nextNumber }

    func size(of tenant: TenantID) -> Size { sizes[tenant] ?? Size() }

    subscript(key: TimelineKey) -> StoredTimeline? { slots[key].flatMap { rows[$0] } }

    subscript(slot: TimelineSlot) -> StoredTimeline? {
        rows.indices.contains(slot) ? rows[slot] : nil
    }

    var isEmpty: Bool { slots.isEmpty }

    /// Places, used or not, for those who look at all of them in pieces.
    var places: Range<TimelineSlot> { rows.indices }

    func slots(of subject: TimelineSubject, _ tenant: TenantID) -> [TimelineSlot] {
        bySubject[SubjectKey(tenant: tenant, subject: subject)] ?? []
    }

    /// Those of subjects `key` of a kind that a user may read.
    func slots(
        of kind: Identifier, readableBy user: String, _ tenant: TenantID
    ) -> [TimelineSlot] {
        byReader[SubjectKey(tenant: tenant, subject: .user(user))]?[kind] ?? []
    }

    /// Those that show an activity's state.
    func slots(from activity: ActivityKey) -> [TimelineSlot] {
        byActivity.isEmpty ? [] : byActivity[activity] ?? []
    }

    /// Whether a widget of a device shows, or has shown within a day, an entry that leads there.
    ///
    /// - Parameter link: its hash, as `Timeline.linkHashes` has it.
    func offer(_ link: Int64, to user: String?, _ device: DeviceKey, at wall: Instant) -> Bool {
        shown(to: user, device).contains { rows[$0]?.offers(link, at: wall) ?? false }
    }

    /// What the widgets of a device may show, of all kinds: at most `shownMax`.
    func shown(to user: String?, _ device: DeviceKey) -> ArraySlice<TimelineSlot> {
        var places = slots(of: .device(device.id), device.tenant)
        if let user {
            places += slots(of: .user(user), device.tenant)
            let readable = byReader[SubjectKey(tenant: device.tenant, subject: .user(user))]
            for slots in (readable ?? [:]).values where places.count < Self.shownMax {
                places += slots.prefix(Self.shownMax - places.count)
            }
        }
        return places.prefix(Self.shownMax)
    }

    /// What to do where a tap that names no widget may be of one that was not looked at.
    func hint(for user: String?, _ device: DeviceKey) -> String {
        shown(to: user, device).count < Self.shownMax
            ? ""
            : "; it may read \(Self.shownMax) timelines or more, and not all were looked through: "
                + "give \"widget\" and \"config\" too"
    }

    /// So many are looked through for a tap that names no widget: about 3 ms.
    static let shownMax = 16_384

    /// Puts a timeline in the place of the one with its key.
    @discardableResult
    mutating func put(_ row: StoredTimeline) -> TimelineSlot {
        let tenant = row.key.tenant
        nextNumber = max(nextNumber, row.number + 1)
        let slot: TimelineSlot
        if let known = slots[row.key] {
            slot = known
            sizes[tenant, default: Size()].bytes -= rows[slot]?.bytes ?? 0
            leave(slot)
        } else {
            slot = free.popLast() ?? rows.endIndex
            if slot == rows.endIndex { rows.append(nil) }
            slots[row.key] = slot
            bySubject[SubjectKey(tenant: tenant, subject: row.key.subject), default: []]
                .append(slot)
            sizes[tenant, default: Size()].count += 1
        }
        sizes[tenant, default: Size()].bytes += row.bytes
        rows[slot] = row
        for reader in Set(row.timeline.readers.map(TimelineSubject.user)) {
            byReader[SubjectKey(tenant: tenant, subject: reader), default: [:]][
                row.key.kind, default: []
            ].append(slot)
        }
        if let activity = row.timeline.from {
            byActivity[ActivityKey(tenant: tenant, id: activity), default: []].append(slot)
        }
        return slot
    }

    /// Readers and an activity find it no more.
    private mutating func leave(_ slot: TimelineSlot) {
        guard let row = rows[slot] else { return }
        for reader in row.timeline.readers {
            let key = SubjectKey(tenant: row.key.tenant, subject: .user(reader))
            byReader[key]?[row.key.kind]?.removeAll { $0 == slot }
            if byReader[key]?[row.key.kind]?.isEmpty == true { byReader[key]?[row.key.kind] = nil }
            if byReader[key]?.isEmpty == true { byReader[key] = nil }
        }
        guard let id = row.timeline.from else { return }
        let activity = ActivityKey(tenant: row.key.tenant, id: id)
        byActivity[activity]?.removeAll { $0 == slot }
        if byActivity[activity]?.isEmpty == true { byActivity[activity] = nil }
    }

    /// The producer was asked for what is so at a moment.
    mutating func asked(_ slot: TimelineSlot, through moment: Instant) {
        rows[slot]?.askedThrough = moment
    }

    mutating func remove(_ key: TimelineKey) -> StoredTimeline? {
        guard let slot = slots.removeValue(forKey: key), let row = rows[slot] else { return nil }
        leave(slot)
        let subject = SubjectKey(tenant: key.tenant, subject: key.subject)
        bySubject[subject]?.removeAll { $0 == slot }
        if bySubject[subject]?.isEmpty == true { bySubject[subject] = nil }
        sizes[key.tenant, default: Size()].count -= 1
        sizes[key.tenant, default: Size()].bytes -= row.bytes
        rows[slot] = nil
        free.append(slot)
        deadlines.set(slot, at: nil)
        return row
    }

    /// Those of a subject go by other clocks: they come out of `popMoved` by and by.
    mutating func move(_ subject: TimelineSubject, _ tenant: TenantID) {
        let slots = slots(of: subject, tenant)
        if !slots.isEmpty { moved.append(slots[...]) }
    }

    /// The clock was ahead, and is set right: what is of a time to come is of now.
    mutating func followClock(backTo wall: Instant) {
        let late = rows.indices.filter { rows[$0]?.isAhead(of: wall) ?? false }
        for slot in late { rows[slot]?.followClock(backTo: wall) }
        if !late.isEmpty { moved.append(late[...]) }
    }

    var hasMoved: Bool { !moved.isEmpty }

    /// The next whose dates are to be looked at again. Its place may have another timeline since.
    mutating func popMoved() -> TimelineSlot? {
        guard let last = moved.indices.last else { return nil }
        let slot = moved[last].popLast()
        if moved[last].isEmpty { moved.removeLast() }
        return slot
    }

    /// The producer is asked then; nil: never.
    mutating func ask(_ slot: TimelineSlot, at moment: Instant?) { deadlines.set(slot, at: moment) }

    mutating func popDue(until moment: Instant) -> TimelineSlot? { deadlines.pop(until: moment) }

    /// A record whose timeline cannot be read has its number all the same.
    mutating func skip(_ number: Int64) { nextNumber = max(nextNumber, number + 1) }
}
