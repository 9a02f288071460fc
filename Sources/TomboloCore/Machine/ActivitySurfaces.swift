package import TomboloJSON

/// Where an activity is shown on a device besides its card, and what that goes by.
package struct ActivitySurfaces: Sendable {
    /// A widget on record: its kind, and what it is configured to.
    package struct Widget: Hashable, Sendable {
        package var kind: Identifier
        /// In the order that its user gave; empty: nothing.
        package var config: [Identifier]

        /// - Parameter config: empty: nothing.
        package init(kind: Identifier, config: [Identifier]) {
            (self.kind, self.config) = (kind, config)
        }
    }

    /// Of so many widgets and controls an answer speaks.
    package static let countMax = 20

    package let app: String
    /// By wall time: when the newest event on disk came.
    package let changedAt: Instant
    package let state: JSON
    /// What its type takes for a change; nil: everything.
    package let visibility: Visibility?
    /// Kinds of widgets that show it, or whose reloads follow its changes.
    package private(set) var widgets: [Widget] = []
    /// Its type reloads the app's widgets, whatever they show.
    package private(set) var reloadsWidgets = false
    /// Kinds of controls that its type reloads.
    package private(set) var controls: [String] = []
    /// Reloads follow its changes on this device: it is in the audience.
    package let isInAudience: Bool

    /// Nil where the activity or the device is not known, or nothing of it is on disk.
    ///
    /// - Parameter asked: the widgets of the device that have fetched.
    package init?(
        of activity: ActivityKey, on key: DeviceKey, asked: [Widget], in core: Core
    ) {
        guard let slot = core.activities.slot(of: activity),
            let durable = core.activities[slot].durable,
            let deviceSlot = core.devices.slot(of: key), let device = core.devices[deviceSlot]
        else { return nil }
        let definition = core.activities[slot].durableDefinition
        app = definition.app
        (changedAt, state) = (durable.changedAt, durable.state)
        let type = core.types.type(of: definition, key.tenant)
        visibility = type?.visibility
        isInAudience = core.isInAudience(deviceSlot, of: slot)
        if isInAudience {
            controls = type?.reloadsControls ?? []
            reloadsWidgets = type?.reloadsWidgets ?? false
        }
        // An activity of another app is no timeline's source.
        func isShown(by row: StoredTimeline?) -> Bool {
            row?.timeline.from == activity.id && row?.key.app == app
        }
        func subjects(of widget: Widget) -> [TimelineSubject] {
            guard widget.config.isEmpty else { return widget.config.map(TimelineSubject.key) }
            return [.device(key.id)] + (device.registration.user.map { [.user($0)] } ?? [])
        }
        var known: Set<TimelineKey> = []
        for widget in asked where !widgets.contains(widget) {
            let keys = subjects(of: widget).map {
                TimelineKey(tenant: key.tenant, app: app, kind: widget.kind, subject: $0)
            }
            guard keys.contains(where: { isShown(by: core.timelines[$0]) }) else { continue }
            widgets.append(widget)
            known.formUnion(keys)
        }
        for place in core.timelines.shown(to: device.registration.user, key)
            .prefix(TimelineListing.pieceMax)
        {
            guard let row = core.timelines[place], isShown(by: row), !known.contains(row.key) else {
                continue
            }
            var config: [Identifier] = []
            if case .key(let id) = row.key.subject { config = [id] }
            widgets.append(Widget(kind: row.key.kind, config: config))
        }
        widgets = Array(widgets.prefix(Self.countMax))
    }

    /// Whether two of its states look alike to its type, so that no reload follows; nil: each
    /// change counts.
    package func isSame(as former: JSON) -> Bool? {
        visibility.map { $0.hash(of: former) == $0.hash(of: state) }
    }
}
