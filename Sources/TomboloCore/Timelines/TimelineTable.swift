/// All timelines, their indices, and when their producers are to be asked.
///
/// The table owns its rows: nothing else in the core changes them.
struct TimelineTable: Sendable {
    private var rows = SlotArray<Tables.Timelines, StoredTimeline?>()
    private var free: [TimelineSlot] = []
    private var slots: [TimelineKey: TimelineSlot] = [:]
    /// The timelines of a subject, of all kinds; a device finds through it what it may show.
    private var bySubject: [SubjectKey: [TimelineSlot]] = [:]
    /// The timelines of `key` subjects, by each user who may read them, and by kind.
    private var byReader: [SubjectKey: [Identifier: [TimelineSlot]]] = [:]
    /// The timelines that show an activity's state.
    private var byActivity: [ActivityKey: [TimelineSlot]] = [:]
    private var sizes: [TenantID: Size] = [:]
    private var nextNumber: Int64 = 1
    /// Wall time.
    private var deadlines = DeadlineHeap<Tables.Timelines>()
    /// Timelines whose dates follow another clock now, and were not looked at since.
    private var moved: [ArraySlice<TimelineSlot>] = []

    private struct SubjectKey: Hashable {
        var tenant: TenantID
        var subject: TimelineSubject
    }

    /// The space of a tenant's timelines.
    struct Size: Hashable, Sendable {
        var count = 0
        var bytes = 0
    }

    /// When the next producer is to be asked, in wall time.
    var nextDue: Instant? { deadlines.first }

    /// The number that a timeline has, or that a new one would get.
    func number(of key: TimelineKey) -> Int64 { self[key]?.number ?? nextNumber }

    func size(of tenant: TenantID) -> Size { sizes[tenant] ?? Size() }

    subscript(key: TimelineKey) -> StoredTimeline? { slots[key].flatMap { rows[$0] } }

    subscript(slot: TimelineSlot) -> StoredTimeline? {
        rows.indices.contains(slot) ? rows[slot] : nil
    }

    var isEmpty: Bool { slots.isEmpty }

    /// All slots, used or free, for callers that look at them in parts.
    var places: Range<TimelineSlot> { rows.indices }

    func slots(of subject: TimelineSubject, _ tenant: TenantID) -> [TimelineSlot] {
        bySubject[SubjectKey(tenant: tenant, subject: subject)] ?? []
    }

    /// The timelines of a kind with a `key` subject that a user may read.
    func slots(
        of kind: Identifier, readableBy user: String, _ tenant: TenantID
    ) -> [TimelineSlot] {
        byReader[SubjectKey(tenant: tenant, subject: .user(user))]?[kind] ?? []
    }

    /// The timelines that show an activity's state.
    func slots(from activity: ActivityKey) -> [TimelineSlot] {
        byActivity.isEmpty ? [] : byActivity[activity] ?? []
    }

    /// Whether a widget of a device shows, or has shown within a day, an entry with this link.
    ///
    /// - Parameter link: its hash, as in `Timeline.linkHashes`.
    func offer(_ link: Int64, to user: String?, _ device: DeviceKey, at wall: Instant) -> Bool {
        shown(to: user, device).contains { rows[$0]?.offers(link, at: wall) ?? false }
    }

    /// The timelines, of all kinds, that a device's widgets may show: at most `shownMax`.
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

    /// True if a timeline is for a device or its user.
    func hasSome(for user: String?, _ device: DeviceKey) -> Bool {
        !slots(of: .device(device.id), device.tenant).isEmpty
            || user.map { !slots(of: .user($0), device.tenant).isEmpty } ?? false
    }

    /// Advice for a tap that names no widget, if the widget may be among those not looked at.
    func hint(for user: String?, _ device: DeviceKey) -> String {
        shown(to: user, device).count < Self.shownMax
            ? ""
            : "; it may read \(Self.shownMax) timelines or more, and not all were looked through: "
                + "give \"widget\" and \"config\" too"
    }

    /// Timelines looked through for a tap that names no widget, at most: about 3 ms.
    static let shownMax = 16_384

    /// Stores a timeline, and replaces the one with the same key.
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

    /// Removes the timeline from the indices of readers and activities.
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

    /// The producer was asked for the content of a moment.
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

    /// The subject's timelines follow another clock: `popMoved` returns them one by one.
    mutating func move(_ subject: TimelineSubject, _ tenant: TenantID) {
        let slots = slots(of: subject, tenant)
        if !slots.isEmpty { moved.append(slots[...]) }
    }

    /// The clock was ahead and is now right: times in the future become the present.
    mutating func followClock(backTo wall: Instant) {
        let late = rows.indices.filter { rows[$0]?.isAhead(of: wall) ?? false }
        for slot in late { rows[slot]?.followClock(backTo: wall) }
        if !late.isEmpty { moved.append(late[...]) }
    }

    var hasMoved: Bool { !moved.isEmpty }

    /// The next timeline whose dates are to be computed again. Another may have its slot by now.
    mutating func popMoved() -> TimelineSlot? {
        guard let last = moved.indices.last else { return nil }
        let slot = moved[last].popLast()
        if moved[last].isEmpty { moved.removeLast() }
        return slot
    }

    /// The producer is asked at that moment; nil means never.
    mutating func ask(_ slot: TimelineSlot, at moment: Instant?) { deadlines.set(slot, at: moment) }

    mutating func popDue(until moment: Instant) -> TimelineSlot? { deadlines.pop(until: moment) }

    /// The number of an unreadable record is not used again.
    mutating func skip(_ number: Int64) { nextNumber = max(nextNumber, number + 1) }
}
