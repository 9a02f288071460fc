package import TomboloCore

/// The newest fetch of each widget since the relay's start, for the command `why`.
///
/// It holds only ids, numbers and the users to which keys are bound, but no content of requests.
package struct WidgetFetches: Sendable {
    /// Identifies a widget of a device.
    package struct Key: Hashable, Sendable {
        package var widget: ActivitySurfaces.Widget
        /// The widget's family; nil if the request named none.
        package var family: WidgetFamily?

        /// - Parameter family: the widget's family; nil if the request named none.
        package init(_ widget: ActivitySurfaces.Widget, family: WidgetFamily?) {
            (self.widget, self.family) = (widget, family)
        }
    }

    /// One fetch and its answer.
    package struct Fetch: Hashable, Sendable {
        /// The relay's answer.
        package enum Answer: Hashable, Sendable {
            /// Entries of this version (`TimelineEntries.version`).
            case entries(version: UInt64)
            /// The widget already has the entries of this version (304).
            case unchanged(version: UInt64)
            /// A refusal with this problem code.
            case refused(String)
        }

        /// Time of the fetch: steady time and wall time.
        package var (now, at): (Instant, Instant)
        package var answer: Answer
        /// The user to whom the request's key is bound (maybe not the device's user), or nil.
        package var boundTo: String?
    }

    /// The fetches of one device while it has the same user.
    private struct OfDevice {
        /// The device's user, as the relay's own hash. If the user changes, fetches are dropped.
        var owner: Int64
        var fetches: [(key: Key, fetch: Fetch)] = []
    }

    /// Maximum number of devices. If more come, those added first are dropped.
    static let devicesMax = 50_000
    /// Maximum number of fetches of one device. If more come, the oldest is dropped.
    static let ofDeviceMax = 64

    private var devices: [DeviceKey: OfDevice] = [:]
    /// Devices in the order in which they were added, as a ring.
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

    /// Fetches of one widget on a device, oldest first.
    func all(
        of device: DeviceKey, _ widget: ActivitySurfaces.Widget, owner: Int64
    ) -> [OfFamily] {
        guard let own = devices[device], own.owner == owner else { return [] }
        return own.fetches.filter { $0.key.widget == widget }.map { ($0.key.family, $0.fetch) }
    }

    /// The widgets with which a device has fetched, in the order of their last fetch.
    func widgets(of device: DeviceKey, owner: Int64) -> [ActivitySurfaces.Widget] {
        guard let own = devices[device], own.owner == owner else { return [] }
        return own.fetches.map(\.key.widget)
    }

    /// A widget family (nil if the request named none), and its newest fetch.
    package typealias OfFamily = (family: WidgetFamily?, fetch: Fetch)
}

extension Relay {
    /// Records a widget's fetch. Fetches of unknown devices are not kept.
    ///
    /// - Parameter boundTo: the user to which the request's key is bound; nil if it is not bound.
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
    /// - Parameter owner: `owner` of the device's `ReloadView`.
    package func fetches(
        of widget: ActivitySurfaces.Widget, on device: DeviceKey, owner: Int64
    ) -> [WidgetFetches.OfFamily] {
        fetches.all(of: device, widget, owner: owner)
    }

    /// State of the reloads of a device's widgets, or of one of its controls; nil: unknown device.
    package func reload(_ name: TokenName, of device: DeviceKey) -> ReloadView? {
        read { core, now in ReloadView(name, of: device, in: core, now: now) }
    }

    /// Where an activity is shown on a device besides its card; nil if either is unknown.
    package func surfaces(of activity: ActivityKey, on device: DeviceKey) -> ActivitySurfaces? {
        read { core, now in
            guard let owner = ReloadView(of: device, in: core, now: now)?.owner else { return nil }
            return ActivitySurfaces(
                of: activity, on: device, asked: fetches.widgets(of: device, owner: owner),
                in: core)
        }
    }
}
