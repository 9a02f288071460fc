// What changes of activities have to do with widgets and controls: reloads of what shows them.

extension Core {
    /// Before a change of an activity is durable: keeps what widgets show of it, and whether its
    /// type takes the change for one that shows (pacing rule 17). Of the changes of one commit the
    /// first says what was shown before. What nothing follows from is not kept.
    func noteShown(
        _ activity: ActivitySlot, before next: Projection, isNew: Bool,
        in shown: inout [ActivitySlot: ShownBefore]
    ) {
        let isSource = !timelines.slots(from: activities[activity].key).isEmpty
        let type =
            types.isEmpty
            ? nil
            : types.type(of: activities[activity].definition, activities[activity].key.tenant)
        // The type of a new life is not known here yet.
        let reloads = type.map { $0.reloadsWidgets || !$0.reloadsControls.isEmpty } ?? false
        guard isSource || reloads || isNew else { return }
        let known = shown[activity]
        var before = known ?? ShownBefore()
        if known == nil, isSource, activities[activity].durable != nil {
            before.activity = activities[activity]
        }
        if isNew
            || reloads && next.isVisible(after: activities[activity].durable, to: type?.visibility)
        {
            before.isVisible = true
        }
        shown[activity] = before
    }

    /// What follows the changes of an activity in one commit: its widgets where they show something
    /// else, and what its type wants to follow each change.
    mutating func reloadAfter(_ activity: ActivitySlot, since before: ShownBefore) {
        let key = activities[activity].key
        // Many timelines show the same: it is compared once.
        var differs: [String: Bool] = [:]
        for slot in timelines.slots(from: key) {
            guard let row = timelines[slot] else { continue }
            let app = row.key.app
            let isOther =
                differs[app]
                ?? types.differs(
                    before.activity.flatMap { TimelineSource($0, app: app) },
                    TimelineSource(activities[activity], app: app), of: row.key)
            differs[app] = isOther
            guard isOther else { continue }
            for owner in row.owners {
                surfaces.wish(ReloadWish(owner: owner, name: .widget, app: app))
            }
        }
        guard before.isVisible,
            let type = types.type(of: activities[activity].definition, key.tenant),
            type.reloadsWidgets || !type.reloadsControls.isEmpty
        else { return }
        var names = type.reloadsControls.map { TokenName.control(kind: $0) }
        if type.reloadsWidgets { names.append(.widget) }
        let owners: [ReloadWish.Owner] =
            switch activities[activity].definition.audience {
            case .none, .channel: []
            case .user(let user): [.user(UserKey(tenant: key.tenant, user: user))]
            case .devices(let ids): ids.map { .device(DeviceKey(tenant: key.tenant, id: $0)) }
            }
        for owner in owners {
            for name in names { surfaces.wish(ReloadWish(owner: owner, name: name, app: nil)) }
        }
    }

    /// What widgets showed of an activity before a commit.
    struct ShownBefore {
        /// Nil where no timeline shows it, or it was not there.
        var activity: Activity?
        /// Its type takes one of the changes for one that shows.
        var isVisible = false
    }

    /// Reloads what was wished. Answers how many devices were looked at.
    mutating func grant(_ wish: ReloadWish, now: Instant) -> Int {
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
    /// Whether it shows something else than the one before, to who looks at `visibility` alone.
    fileprivate func isVisible(after before: Projection?, to visibility: Visibility?) -> Bool {
        guard clip == nil, ending == nil, let before, before.clip == nil, let visibility else {
            return true
        }
        return visibility.hash(of: before.state) != visibility.hash(of: state)
    }
}
