import TomboloJSON

/// The activity that a timeline shows, in its durable state.
struct TimelineSource: Sendable {
    let state: JSON
    let type: String
    /// In wall time.
    let changedAt: Instant

    /// Returns nil if the activity is of another app, is not durable yet, or ended without content.
    init?(_ activity: Activity, app: String) {
        self.init(activity.durable, activity.durableDefinition, app: app)
    }

    /// The same for a state that will be durable soon.
    init?(_ durable: Projection?, _ definition: Activity.Definition, app: String) {
        guard definition.app == app, let durable, durable.ending?.isBare != true else {
            return nil
        }
        state = durable.state
        type = definition.type
        changedAt = durable.changedAt
    }
}

extension ActivityTable {
    /// The activity that a timeline shows; nil if it is not in memory, is of another app, or ended
    /// without content.
    func source(_ id: Identifier, of key: TimelineKey) -> TimelineSource? {
        slot(of: ActivityKey(tenant: key.tenant, id: id)).flatMap {
            TimelineSource(self[$0], app: key.app)
        }
    }
}

extension TypeTable {
    /// True if an app's widgets show the activity differently: the cut of a family differs. For a
    /// type without cuts: a visible part does.
    func differs(_ before: TimelineSource?, _ next: TimelineSource?, of key: TimelineKey) -> Bool {
        guard let before, let next, isSameText(before.type, next.type) else {
            return before != nil || next != nil
        }
        let type = self[ActivityType.Key(tenant: key.tenant, app: key.app, name: next.type)]
        if let families = type?.families {
            return families.differ(before.state, next.state)
        }
        guard let visibility = type?.visibility else {
            return !before.state.isSameValue(as: next.state)
        }
        return visibility.hash(of: before.state) != visibility.hash(of: next.state)
    }
}
