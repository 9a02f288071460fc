package import TomboloJSON

/// The widgets and controls of a device that show an activity, and when they are reloaded.
package struct ActivitySurfaces: Sendable {
    /// A widget on the device: its kind and its configuration.
    package struct Widget: Hashable, Sendable {
        package var kind: Identifier
        /// The configuration ids in the order that the user chose; empty if there are none.
        package var config: [Identifier]

        /// - Parameter config: empty if the widget has no configuration.
        package init(kind: Identifier, config: [Identifier]) {
            (self.kind, self.config) = (kind, config)
        }
    }

    package static let countMax = 20

    package let app: String
    /// Wall time of the newest durable event.
    package let changedAt: Instant
    package let state: JSON
    /// The parts of the state whose changes cause a reload; nil: every change does.
    package let visibility: Visibility?
    /// Widgets of the device that show the activity.
    package private(set) var widgets: [Widget] = []
    /// True if the activity's type reloads all widgets of the app.
    package private(set) var reloadsWidgets = false
    /// Kinds of the controls that the activity's type reloads.
    package private(set) var controls: [String] = []
    /// True if the device is in the activity's audience: only then do reloads follow changes.
    package let isInAudience: Bool

    /// Returns nil if the activity or the device is unknown, or if nothing of the activity is
    /// durable.
    ///
    /// - Parameter asked: the device's widgets that have fetched their timelines.
    package init?(
        of activity: ActivityKey, on key: DeviceKey, asked: [Widget], in core: borrowing Core
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
        // A timeline can only show an activity of its own app.
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

    /// True if the activity's state and `former` are equal where changes cause a reload; nil if
    /// every change causes one.
    package func isSame(as former: JSON) -> Bool? {
        visibility.map { $0.hash(of: former) == $0.hash(of: state) }
    }
}
