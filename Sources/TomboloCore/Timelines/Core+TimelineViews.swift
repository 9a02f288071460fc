import TomboloJSON

// What is asked of timelines.

/// A timeline as a producer sees it.
package struct TimelineView: Sendable {
    package var key: TimelineKey
    package var timeline: Timeline
    package var updatedAt: Instant
    /// When the producer is asked for what is new; nil: never.
    package var dueAt: Instant?
}

/// Who asks for a widget's entries.
package enum TimelineReader: Hashable, Sendable {
    /// It may read what its user may; nothing of a user's where its key is bound to another one.
    case device(Identifier, boundTo: String?)
    /// All of the tenant's.
    case anybody
}

extension Core {
    /// A timeline; `app` nil: of the tenant's only one.
    package func timeline(
        _ kind: Identifier, app: String?, _ subject: TimelineSubject, of tenant: TenantID
    ) throws(Refusal) -> TimelineView {
        let key = TimelineKey(
            tenant: tenant, app: try configuration.app(app, of: tenant), kind: kind,
            subject: subject)
        guard let row = timelines[key] else { throw .unknownTimeline(key) }
        return view(of: row)
    }

    private func view(of row: StoredTimeline) -> TimelineView {
        TimelineView(
            key: row.key, timeline: row.timeline, updatedAt: row.updatedAt,
            dueAt: row.nextDue(zones(of: row))?.at)
    }

    /// Adds what a piece of the places has to a list.
    package func collect(_ listing: inout TimelineListing) {
        guard let place = listing.place else { return }
        let count = listing.places?.count ?? timelines.places.count
        let end = min(count, place + TimelineListing.pieceMax)
        for index in place..<max(place, end) {
            let slot = listing.places?[index] ?? TimelineSlot(index)
            if let key = timelines[slot]?.key { listing.add(key) }
        }
        listing.place = end < count ? end : nil
    }

    /// A timeline that was found; nil: it has gone since.
    package func timeline(_ key: TimelineKey) -> TimelineView? {
        timelines[key].map { view(of: $0) }
    }

    /// What a widget shows from now on. Refused where there is no such timeline, or the reader may
    /// not know of it.
    ///
    /// - Parameter subject: nil: what the device's user has, else the device itself.
    package func entries(
        _ kind: Identifier, app: String?, _ subject: TimelineSubject?, family: WidgetFamily?,
        by reader: TimelineReader, of tenant: TenantID, now: Instant
    ) throws(Refusal) -> TimelineEntries {
        let device = device(of: reader, tenant)
        let name = try configuration.app(device?.registration.app ?? app, of: tenant)
        func readable(_ subject: TimelineSubject) -> StoredTimeline? {
            timelines[TimelineKey(tenant: tenant, app: name, kind: kind, subject: subject)]
                .flatMap { $0.isReadable(by: reader, device) ? $0 : nil }
        }
        let row: StoredTimeline?
        if let subject {
            row = readable(subject)
            guard row != nil else {
                throw .unknownTimeline(
                    TimelineKey(tenant: tenant, app: name, kind: kind, subject: subject))
            }
        } else {
            guard case .device(let id, _) = reader else {
                throw Refusal(
                    .invalidField, "name the subject: user=, device= or key= in the query")
            }
            row =
                reader.user(of: device).flatMap { readable(.user($0)) }
                ?? readable(.device(id))
        }
        guard let row else { return .placeholder }
        let source = row.timeline.from.flatMap { activities.source($0, of: row.key) }
        return row.entries(
            at: wall(now), in: rules(for: row, device), family: family,
            cut: try types.cut(of: row, source, family), source: source)
    }

    /// By the device's clock where the schedule says so; without a device, by one that shows it.
    private func rules(for row: StoredTimeline, _ device: Device?) -> TimeZoneRules {
        if row.timeline.schedule?.zone == .device, let name = device?.registration.timeZone,
            let rules = configuration.zones?.rules(of: name)
        {
            return rules
        }
        return zones(of: row).first ?? .utc
    }

    /// The subjects `key` of a kind that a reader may choose for a widget, in the order of their
    /// ids, to be collected, for `choices(_:by:)`.
    ///
    /// - Parameter after: the order of the last one of the page before.
    package func choosable(
        _ kind: Identifier, app: String?, by reader: TimelineReader, after: [String]? = nil,
        of tenant: TenantID
    ) throws(Refusal) -> TimelineListing {
        var listing = TimelineListing(
            tenant, kind: kind, after: after, limit: TimelineListing.choices)
        (listing.app, listing.isOfKeys) = (app, true)
        guard case .device = reader else { return listing }
        let known = device(of: reader, tenant)
        listing.app = try configuration.app(known?.registration.app ?? app, of: tenant)
        listing.places =
            reader.user(of: known).map {
                timelines.slots(of: kind, readableBy: $0, tenant)
            } ?? []
        return listing
    }

    /// What each of them shows now: the first ones, up to about a mebibyte, and up to `atMost`.
    ///
    /// - Parameter family: nil: what any family gets. Those without a cut for it are left out.
    /// - Returns: `next`: the order of the last one that was looked at, where there are more.
    package func choices(
        _ listing: TimelineListing, family: WidgetFamily?, by reader: TimelineReader, now: Instant,
        atMost: Int = TimelineListing.choices
    ) -> (choices: [(key: Identifier, now: TimelineEntries)], next: [String]?) {
        var choices: [(key: Identifier, now: TimelineEntries)] = []
        var bytes = 0
        var last: [String]?
        for key in listing.keys.prefix(listing.limit) {
            let own = device(of: reader, key.tenant)
            // It may be another's by now.
            guard let row = timelines[key], row.isReadable(by: reader, own),
                case .key(let id) = key.subject
            else { continue }
            let cut: FamilyCut?
            let source = row.timeline.from.flatMap { activities.source($0, of: key) }
            do { cut = try types.cut(of: row, source, family) } catch { continue }
            // A cut is looked for in all of the content, which takes longer than a copy.
            let size = row.timeline.bytes + (source?.state.bytes.count ?? 0)
            bytes += size * (cut == nil ? 1 : TimelineListing.cutWeight)
            guard choices.isEmpty || bytes <= IDPage.bytesMax, choices.count < atMost else {
                return (choices, last)
            }
            choices.append(
                (
                    id,
                    row.entries(
                        at: wall(now), in: rules(for: row, own), family: family, cut: cut,
                        source: source, isSnapshot: true)
                ))
            last = key.order
        }
        let hasMore = listing.keys.count > listing.limit
        return (choices, hasMore ? listing.keys.dropLast().last?.order : nil)
    }

    private func device(of reader: TimelineReader, _ tenant: TenantID) -> Device? {
        guard case .device(let id, _) = reader else { return nil }
        return devices.slot(of: DeviceKey(tenant: tenant, id: id)).flatMap { devices[$0] }
    }
}

extension TimelineReader {
    /// The user whose timelines a device may read. A device may have another user since its key was
    /// made.
    fileprivate func user(of device: Device?) -> String? {
        guard case .device(_, let bound) = self, let user = device?.registration.user,
            bound == nil || isSameText(bound, user)
        else { return nil }
        return user
    }
}

extension StoredTimeline {
    /// Whether a reader may know of it.
    ///
    /// - Parameter device: the reader's; nil: it is not registered.
    func isReadable(by reader: TimelineReader, _ device: Device?) -> Bool {
        guard case .device(let id, _) = reader else { return true }
        switch key.subject {
        // Of a device that was deleted the key may still be there.
        case .device(let own): return own == id && device != nil
        case .user(let user): return isSameText(user, reader.user(of: device))
        case .key:
            guard let user = reader.user(of: device) else { return false }
            return timeline.readers.contains { isSameText($0, user) }
        }
    }
}
