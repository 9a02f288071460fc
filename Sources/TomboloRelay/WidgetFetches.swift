package import TomboloCore

/// The newest fetch of each widget, since the relay's start: what `why` says a widget has.
///
/// It has ids and numbers, and the user whom a key is bound to: nothing that a request says.
package struct WidgetFetches: Sendable {
    /// Which widget of a device has asked.
    package struct Key: Hashable, Sendable {
        package var widget: ActivitySurfaces.Widget
        /// nil: it named none.
        package var family: WidgetFamily?

        /// - Parameter family: nil: it named none.
        package init(_ widget: ActivitySurfaces.Widget, family: WidgetFamily?) {
            (self.widget, self.family) = (widget, family)
        }
    }

    /// What it was answered.
    package struct Fetch: Hashable, Sendable {
        /// What the relay said.
        package enum Answer: Hashable, Sendable {
            /// Entries of this version (`TimelineEntries.version`).
            case entries(version: UInt64)
            /// What it had, of this version, was right still (304).
            case unchanged(version: UInt64)
            /// Nothing: the code of the problem.
            case refused(String)
        }

        /// By the relay's steady time, and by wall time.
        package var (now, at): (Instant, Instant)
        package var answer: Answer
        /// Its key is bound to this user, who may not be the device's; nil: to none.
        package var boundTo: String?
    }

    /// The widgets of one device, as long as it is the same person's.
    private struct OfDevice {
        /// Who had it, by the relay's own hash; another one's fetches are forgotten.
        var owner: Int64
        var fetches: [(key: Key, fetch: Fetch)] = []
    }

    /// Of more devices than this the ones that came first are forgotten.
    static let devicesMax = 50_000
    /// Of one device; the oldest goes.
    static let ofDeviceMax = 64

    private var devices: [DeviceKey: OfDevice] = [:]
    /// In the order in which they came, in a ring.
    private var order: [DeviceKey] = []
    private var oldest = 0

    mutating func note(_ fetch: Fetch, of key: Key, on device: DeviceKey, owner: Int64) {
        if devices[device] == nil {
            if order.count < Self.devicesMax {
                order.append(device)
            } else {
                devices[order[oldest]] = nil
                order[oldest] = device
                oldest = (oldest + 1) % Self.devicesMax
            }
        }
        var own = devices.removeValue(forKey: device) ?? OfDevice(owner: owner)
        if own.owner != owner { own = OfDevice(owner: owner) }
        own.fetches.removeAll { $0.key == key }
        if own.fetches.count >= Self.ofDeviceMax { own.fetches.removeFirst() }
        own.fetches.append((key, fetch))
        devices[device] = own
    }

    /// Of one widget on a device, oldest first.
    func all(
        of device: DeviceKey, _ widget: ActivitySurfaces.Widget, owner: Int64
    ) -> [OfFamily] {
        guard let own = devices[device], own.owner == owner else { return [] }
        return own.fetches.filter { $0.key.widget == widget }.map { ($0.key.family, $0.fetch) }
    }

    /// The widgets of a device that have fetched, the one that did so last at the end.
    func widgets(of device: DeviceKey, owner: Int64) -> [ActivitySurfaces.Widget] {
        guard let own = devices[device], own.owner == owner else { return [] }
        return own.fetches.map(\.key.widget)
    }

    /// A family, nil where none was named, and its newest fetch.
    package typealias OfFamily = (family: WidgetFamily?, fetch: Fetch)
}

extension Relay {
    /// A widget was answered. What an unknown device asks is not kept.
    ///
    /// - Parameter boundTo: the user whom its key is bound to; nil: to none.
    package func noteFetch(
        _ key: WidgetFetches.Key, on device: DeviceKey, boundTo: String?,
        _ answer: WidgetFetches.Fetch.Answer
    ) {
        let (now, known) = read { core, now in (now, ReloadView(of: device, in: core, now: now)) }
        guard let known else { return }
        fetches.note(
            WidgetFetches.Fetch(now: now, at: core.wall(now), answer: answer, boundTo: boundTo),
            of: key, on: device, owner: known.owner)
    }

    /// The newest fetch of each family of a widget, oldest first.
    ///
    /// - Parameter owner: of the device's `ReloadView`.
    package func fetches(
        of widget: ActivitySurfaces.Widget, on device: DeviceKey, owner: Int64
    ) -> [WidgetFetches.OfFamily] {
        fetches.all(of: device, widget, owner: owner)
    }

    /// What becomes of the reloads of a device's widgets, or of one control; nil where the device
    /// is not known.
    package func reload(_ name: TokenName, of device: DeviceKey) -> ReloadView? {
        read { core, now in ReloadView(name, of: device, in: core, now: now) }
    }

    /// Where an activity is shown on a device besides its card; nil where one of them is not known.
    package func surfaces(of activity: ActivityKey, on device: DeviceKey) -> ActivitySurfaces? {
        read { core, now in
            guard let owner = ReloadView(of: device, in: core, now: now)?.owner else { return nil }
            return ActivitySurfaces(
                of: activity, on: device, asked: fetches.widgets(of: device, owner: owner),
                in: core)
        }
    }
}
