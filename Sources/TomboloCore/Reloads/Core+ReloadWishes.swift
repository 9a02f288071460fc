// Which changes of activities let widgets and controls reload.

extension Core {
    /// The reloads that must follow a batch: for activities that end, leave memory or look
    /// different in widgets, or whose change is visible for their type (pacing rule 17).
    func owedReloads(of batch: JournalBatch) -> [OwedReload] {
        guard !timelines.isEmpty || !types.isEmpty else { return [] }
        var owed: [ActivitySlot: OwedReload] = [:]
        var last: [ActivitySlot: (projection: Projection?, incarnation: Int64)] = [:]
        for event in batch.events {
            let slot = event.activity
            let (key, definition) = (activities[slot].key, activities[slot].definition)
            let type = types.isEmpty ? nil : types.type(of: definition, key.tenant)
            let reloads = type.map { $0.reloadsWidgets || !$0.reloadsControls.isEmpty } ?? false
            guard reloads || !timelines.slots(from: key).isEmpty else { continue }
            let before =
                last[slot] ?? (activities[slot].durable, activities[slot].durableIncarnation)
            last[slot] = (event.projection, event.incarnation)
            let isVisible =
                event.incarnation != before.incarnation
                || event.projection.isVisible(after: before.projection, to: type?.visibility)
            if reloads && isVisible {
                let none = OwedReload(activities[slot], apps: [])
                owed[slot, default: none].followsType = true
            }
        }
        for (slot, next) in last {
            let apps = timelines.appsThatDiffer(activities[slot], next.projection, types)
            guard apps?.isEmpty != true else { continue }
            let all = OwedReload(activities[slot])
            owed[slot, default: all].apps = apps
        }
        for one in batch.retired where !timelines.slots(from: activities[one.slot].key).isEmpty {
            let all = OwedReload(activities[one.slot])
            owed[one.slot, default: all].apps = nil
        }
        return owed.values.sorted { $0.number < $1.number }
    }

    /// The users and devices whose widgets or controls an owed reload is for.
    func wishes(of owed: OwedReload) -> [ReloadWish] {
        var wishes: [ReloadWish] = []
        for slot in timelines.slots(from: owed.activity) {
            guard let row = timelines[slot], owed.apps?.contains(row.key.app) ?? true else {
                continue
            }
            wishes += row.owners.map { ReloadWish(owner: $0, name: .widget, app: row.key.app) }
        }
        guard owed.followsType, let slot = activities.slot(of: owed.activity),
            let type = types.type(of: activities[slot].durableDefinition, owed.activity.tenant)
        else { return wishes }
        var names = type.reloadsControls.map { TokenName.control(kind: $0) }
        if type.reloadsWidgets { names.append(.widget) }
        let tenant = owed.activity.tenant
        let owners: [ReloadWish.Owner] =
            switch activities[slot].durableDefinition.audience {
            case .none, .channel: []
            case .user(let user): [.user(UserKey(tenant: tenant, user: user))]
            case .devices(let ids): ids.map { .device(DeviceKey(tenant: tenant, id: $0)) }
            }
        for owner in owners {
            wishes += names.map { ReloadWish(owner: owner, name: $0, app: nil) }
        }
        return wishes
    }

    /// Handles one turn: reloads the surfaces of a wish. Returns how many devices it has examined.
    /// The record of an owed reload is deleted when the records of all devices contain its wishes.
    mutating func grant(_ turn: SurfaceTable.Turn, now: Instant) -> Int {
        let wish: ReloadWish
        switch turn {
        case .wish(let next): wish = next
        case .paid(let number):
            if surfaces.isPaid(number), !journal.owes(number) {
                journal.erase(.owedReload, number)
                journal.flushSoon(now: now)
            }
            return 1
        }
        let slots =
            switch wish.owner {
            case .user(let user): devices.slots(of: user)
            case .device(let key): devices.slot(of: key).map { [$0] } ?? []
            }
        for slot in slots where wish.app == nil || isOf(wish.app, slot) {
            if devices[slot]?.tokens[wish.name] != nil { wantReload(wish.name, of: slot, now: now) }
        }
        return slots.count
    }
}

extension Projection {
    /// True if the change is visible for the type: by the parts in `visibility`, or because it
    /// starts or ends something. All counts if `visibility` is nil.
    fileprivate func isVisible(after before: Projection?, to visibility: Visibility?) -> Bool {
        guard clip == nil, ending == nil, let before, before.clip == nil, let visibility else {
            return true
        }
        return visibility.hash(of: before.state) != visibility.hash(of: state)
    }
}

extension TimelineTable {
    /// The apps whose timelines show the activity differently with `next`; nil: all, because the
    /// activity ends.
    fileprivate func appsThatDiffer(
        _ activity: Activity, _ next: Projection?, _ types: TypeTable
    ) -> Set<String>? {
        if next?.ending != nil, activity.durable?.ending == nil { return nil }
        // Many timelines show the same state, so compare it once for each app.
        var differs: [String: Bool] = [:]
        for place in slots(from: activity.key) {
            guard let row = self[place], differs[row.key.app] == nil else { continue }
            differs[row.key.app] = types.differs(
                TimelineSource(activity, app: row.key.app),
                TimelineSource(next, activity.definition, app: row.key.app), of: row.key)
        }
        return Set(differs.filter(\.value).keys)
    }
}
