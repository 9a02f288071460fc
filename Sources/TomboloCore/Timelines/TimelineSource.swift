import TomboloJSON

/// The activity whose state a timeline shows, as it is on disk.
struct TimelineSource: Sendable {
    let state: JSON
    let type: String
    /// Wall time.
    let changedAt: Instant

    /// Nil if the activity belongs to another app or is not on disk yet, or if its card was only
    /// removed.
    init?(_ activity: Activity, app: String) {
        self.init(activity.durable, activity.durableDefinition, app: app)
    }

    /// The same for a state that is about to be on disk.
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
    /// What a timeline shows of an activity; nil if there is none, it belongs to another app, or
    /// its card was only removed.
    func source(_ id: Identifier, of key: TimelineKey) -> TimelineSource? {
        slot(of: ActivityKey(tenant: key.tenant, id: id)).flatMap {
            TimelineSource(self[$0], app: key.app)
        }
    }
}

extension TypeTable {
    /// Whether an app's widgets show something else of an activity than before: some family's cut
    /// differs or, for a type without cuts, a significant value does.
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
