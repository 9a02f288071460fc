package import TomboloCore

/// The newest fetch of each widget, since the relay's start: what `why` says a widget has.
///
/// It has ids and numbers alone: nothing that a request says of a person.
package struct WidgetFetches: Sendable {
    /// Which widget of a device has asked.
    package struct Key: Hashable, Sendable {
        package var kind: Identifier
        /// What it is configured to; nil: nothing.
        package var config: Identifier?
        /// nil: it named none.
        package var family: WidgetFamily?

        /// `config` and `family` nil: it has none, or named none.
        package init(kind: Identifier, config: Identifier?, family: WidgetFamily?) {
            (self.kind, self.config, self.family) = (kind, config, family)
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

    /// Of one kind on a device, oldest first.
    func all(
        of device: DeviceKey, kind: Identifier, config: Identifier?, owner: Int64
    ) -> [OfFamily] {
        guard let own = devices[device], own.owner == owner else { return [] }
        return own.fetches.filter { $0.key.kind == kind && $0.key.config == config }
            .map { ($0.key.family, $0.fetch) }
    }

    /// A family, nil where none was named, and its newest fetch.
    package typealias OfFamily = (family: WidgetFamily?, fetch: Fetch)
}

/// A widget's reload and fetches.
package struct WidgetState: Sendable {
    /// What becomes of its device's reload.
    package var reload: ReloadView
    /// Of each family that has asked, oldest first.
    package var fetches: [WidgetFetches.OfFamily]
    /// Of each of them, the version of what it would have got then, of what is there now.
    package var versions: [UInt64?]
}

extension Relay {
    /// A widget was answered. What an unknown device asks is not kept.
    package func noteFetch(
        _ key: WidgetFetches.Key, on device: DeviceKey, _ answer: WidgetFetches.Fetch.Answer
    ) {
        let (now, known) = read { core, now in (now, ReloadView(of: device, in: core, now: now)) }
        guard let known else { return }
        fetches.note(
            WidgetFetches.Fetch(now: now, at: core.wall(now), answer: answer), of: key,
            on: device, owner: known.owner)
    }

    /// How the widgets of one kind on a device are; nil where the device is not known.
    package func widgetState(
        _ kind: Identifier, app: String?, config: Identifier?, of device: DeviceKey
    ) -> WidgetState? {
        read { core, now in
            guard let reload = ReloadView(of: device, in: core, now: now) else { return nil }
            let all = fetches.all(of: device, kind: kind, config: config, owner: reload.owner)
            let versions = all.map { family, fetch in
                // What it may not read has no version.
                try? core.entries(
                    kind, app: app, config.map(TimelineSubject.key), family: family,
                    by: .device(device.id, boundTo: nil), of: device.tenant, now: fetch.now
                ).version
            }
            return WidgetState(reload: reload, fetches: all, versions: versions)
        }
    }
}
