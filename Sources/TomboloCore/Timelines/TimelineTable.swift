/// All timelines, with indices to find them, and when their producers must be asked.
///
/// Only this table changes its rows.
struct TimelineTable: Sendable {
    private var rows = SlotArray<Tables.Timelines, StoredTimeline?>()
    private var free: [TimelineSlot] = []
    private var slots: [TimelineKey: TimelineSlot] = [:]
    /// The timelines of each subject.
    private var bySubject: [SubjectKey: [TimelineSlot]] = [:]
    /// The timelines with a subject of kind `key`, by reader and by kind of widget.
    private var byReader: [SubjectKey: [Identifier: [TimelineSlot]]] = [:]
    /// The timelines that show each activity.
    private var byActivity: [ActivityKey: [TimelineSlot]] = [:]
    private var sizes: [TenantID: Size] = [:]
    private var nextNumber: Int64 = 1
    /// When producers must be asked, in wall time.
    private var deadlines = DeadlineHeap<Tables.Timelines>()
    /// Timelines whose dates must be computed again, because the clock that they follow has
    /// changed.
    private var moved: [ArraySlice<TimelineSlot>] = []

    private struct SubjectKey: Hashable {
        var tenant: TenantID
        var subject: TimelineSubject
    }

    struct Size: Hashable, Sendable {
        var count = 0
        var bytes = 0
    }

    /// When the next producer must be asked, in wall time.
    var nextDue: Instant? { deadlines.first }

    /// The number of the timeline; for a new one, the number that it will get.
    func number(of key: TimelineKey) -> Int64 { self[key]?.number ?? nextNumber }

    func size(of tenant: TenantID) -> Size { sizes[tenant] ?? Size() }

    subscript(key: TimelineKey) -> StoredTimeline? { slots[key].flatMap { rows[$0] } }

    subscript(slot: TimelineSlot) -> StoredTimeline? {
        rows.indices.contains(slot) ? rows[slot] : nil
    }

    var isEmpty: Bool { slots.isEmpty }

    /// All slots, used or free, for callers that read them in pieces.
    var places: Range<TimelineSlot> { rows.indices }

    func slots(of subject: TimelineSubject, _ tenant: TenantID) -> [TimelineSlot] {
        bySubject[SubjectKey(tenant: tenant, subject: subject)] ?? []
    }

    /// The timelines of a kind whose subject is a `key` and that the user may read.
    func slots(
        of kind: Identifier, readableBy user: String, _ tenant: TenantID
    ) -> [TimelineSlot] {
        byReader[SubjectKey(tenant: tenant, subject: .user(user))]?[kind] ?? []
    }

    func slots(from activity: ActivityKey) -> [TimelineSlot] {
        byActivity.isEmpty ? [] : byActivity[activity] ?? []
    }

    /// True if a widget of the device shows, or has shown within a day, an entry with this link.
    ///
    /// - Parameter link: the link's hash, as in `Timeline.linkHashes`.
    func offer(_ link: Int64, to user: String?, _ device: DeviceKey, at wall: Instant) -> Bool {
        shown(to: user, device).contains { rows[$0]?.offers(link, at: wall) ?? false }
    }

    /// The timelines of all kinds that the device's widgets may show, at most `shownMax`.
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

    /// True if there is a timeline for the device or its user.
    func hasSome(for user: String?, _ device: DeviceKey) -> Bool {
        !slots(of: .device(device.id), device.tenant).isEmpty
            || user.map { !slots(of: .user($0), device.tenant).isEmpty } ?? false
    }

    /// Advice for a tap that names no widget, if not all timelines of the device were searched.
    func hint(for user: String?, _ device: DeviceKey) -> String {
        shown(to: user, device).count < Self.shownMax
            ? ""
            : "; it may read \(Self.shownMax) timelines or more, and not all were looked through: "
                + "give \"widget\" and \"config\" too"
    }

    /// Maximum number of timelines that are searched for such a tap; this takes about 3 ms.
    static let shownMax = 16_384

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

    /// Removes a timeline from the indices of readers and activities.
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

    /// Notes for which date the producer was asked.
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

    /// Lets `popMoved` return the subject's timelines, because the clock that they follow has
    /// changed.
    mutating func move(_ subject: TimelineSubject, _ tenant: TenantID) {
        let slots = slots(of: subject, tenant)
        if !slots.isEmpty { moved.append(slots[...]) }
    }

    /// Corrects times after the wall clock was ahead: times in the future become `wall`.
    mutating func followClock(backTo wall: Instant) {
        let late = rows.indices.filter { rows[$0]?.isAhead(of: wall) ?? false }
        for slot in late { rows[slot]?.followClock(backTo: wall) }
        if !late.isEmpty { moved.append(late[...]) }
    }

    var hasMoved: Bool { !moved.isEmpty }

    /// The next slot whose dates must be computed again. Another timeline may have the slot by now.
    mutating func popMoved() -> TimelineSlot? {
        guard let last = moved.indices.last else { return nil }
        let slot = moved[last].popLast()
        if moved[last].isEmpty { moved.removeLast() }
        return slot
    }

    /// Sets when the producer must be asked; nil: never.
    mutating func ask(_ slot: TimelineSlot, at moment: Instant?) { deadlines.set(slot, at: moment) }

    mutating func popDue(until moment: Instant) -> TimelineSlot? { deadlines.pop(until: moment) }

    /// Makes sure that no timeline gets this number or a lower one.
    mutating func skip(_ number: Int64) { nextNumber = max(nextNumber, number + 1) }
}
