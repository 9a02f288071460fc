import TomboloJSON

/// The activity whose state a timeline shows, as it is on disk.
struct TimelineSource: Sendable {
    let state: JSON
    let type: String
    /// By wall time.
    let changedAt: Instant

    /// Nil where the activity is of another app, or is not on disk yet, or its card was only taken
    /// off.
    init?(_ activity: Activity, app: String) {
        self.init(activity.durable, activity.durableDefinition, app: app)
    }

    /// The same of what is about to be on disk.
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
    /// What a timeline shows of an activity; nil where it is not there, or of another app, or its
    /// card was only taken off.
    func source(_ id: Identifier, of key: TimelineKey) -> TimelineSource? {
        slot(of: ActivityKey(tenant: key.tenant, id: id)).flatMap {
            TimelineSource(self[$0], app: key.app)
        }
    }
}

extension TypeTable {
    /// Whether the widgets of an app show something else of an activity than before: where some
    /// family's cut differs; of a type without cuts, where a significant value does.
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
