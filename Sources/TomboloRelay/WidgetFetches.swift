package import TomboloCore

/// The newest fetch of each widget, since the relay's start: what `why` says a widget has.
package struct WidgetFetches: Sendable {
    /// Which widget has asked.
    package struct Key: Hashable, Sendable {
        package var device: DeviceKey
        package var kind: Identifier
        /// What it is configured to; nil: nothing.
        package var config: Identifier?
        /// nil: it named none.
        package var family: WidgetFamily?

        /// `config` and `family` nil: it has none, or named none.
        package init(
            device: DeviceKey, kind: Identifier, config: Identifier?, family: WidgetFamily?
        ) {
            (self.device, self.kind, self.config, self.family) = (device, kind, config, family)
        }
    }

    /// What it was answered.
    package struct Fetch: Hashable, Sendable {
        /// What the relay said.
        package enum Answer: Hashable, Sendable {
            /// Entries whose `TimelineEntries.source` is this.
            case entries(source: UInt64)
            /// What it had was right still (304), of the same.
            case unchanged(source: UInt64)
            /// Nothing, for this reason.
            case refused(String)
        }

        /// By wall time.
        package var at: Instant
        package var answer: Answer
    }

    /// A family, nil where none was named, and its newest fetch.
    package typealias OfFamily = (family: WidgetFamily?, fetch: Fetch)

    /// Of more widgets than this the ones that came first are forgotten: 10 MB.
    static let countMax = 50_000

    private var newest: [Key: Fetch] = [:]
    /// In the order in which they came, in a ring.
    private var order: [Key] = []
    private var oldest = 0

    mutating func note(_ fetch: Fetch, of key: Key) {
        guard newest.updateValue(fetch, forKey: key) == nil else { return }
        if order.count < Self.countMax {
            order.append(key)
        } else {
            newest[order[oldest]] = nil
            order[oldest] = key
            oldest = (oldest + 1) % Self.countMax
        }
    }

    /// Of one kind on a device, by family.
    func all(
        of device: DeviceKey, kind: Identifier, config: Identifier?
    ) -> [OfFamily] {
        ([nil] + WidgetFamily.allCases).compactMap { family in
            let key = Key(device: device, kind: kind, config: config, family: family)
            return newest[key].map { (family, $0) }
        }
    }
}

extension Relay {
    /// A widget was answered.
    package func noteFetch(_ key: WidgetFetches.Key, _ answer: WidgetFetches.Fetch.Answer) {
        fetches.note(WidgetFetches.Fetch(at: wallNow(), answer: answer), of: key)
    }

    /// The reload and the fetches of the widgets of one kind on a device; nil where the device is
    /// not known.
    package func widgetState(
        _ kind: Identifier, config: Identifier?, of device: DeviceKey
    ) -> (reload: ReloadView, fetches: [WidgetFetches.OfFamily])? {
        let reload = read { core, now in ReloadView(of: device, in: core, now: now) }
        return reload.map { ($0, fetches.all(of: device, kind: kind, config: config)) }
    }
}
