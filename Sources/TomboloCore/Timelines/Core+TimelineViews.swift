import TomboloJSON

// Queries about timelines.

/// A timeline as a producer sees it.
package struct TimelineView: Sendable {
    package var key: TimelineKey
    package var timeline: Timeline
    package var updatedAt: Instant
    /// When the producer is asked for new content; nil means never.
    package var dueAt: Instant?
}

/// Who reads a widget's entries.
package enum TimelineReader: Hashable, Sendable {
    /// May read what its user may; nothing of a user other than the one that its key is bound to.
    case device(Identifier, boundTo: String?)
    /// May read all timelines of the tenant.
    case anybody
}

extension Core {
    /// A timeline; if `app` is nil, of the tenant's only app.
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

    /// Adds the timelines in some of the table's slots to a listing.
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

    /// A timeline that was listed; nil if it was removed since.
    package func timeline(_ key: TimelineKey) -> TimelineView? {
        timelines[key].map { view(of: $0) }
    }

    /// What a widget shows from now on. Refuses if there is no such timeline, or the reader may not
    /// know of it.
    ///
    /// - Parameter subject: nil means the device's user if that has a timeline, else the device.
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

    /// The device's zone, if the schedule goes by it; without a device, one of those that show it.
    private func rules(for row: StoredTimeline, _ device: Device?) -> TimeZoneRules {
        if row.timeline.schedule?.zone == .device, let name = device?.registration.timeZone,
            let rules = configuration.zones?.rules(of: name)
        {
            return rules
        }
        return zones(of: row).first ?? .utc
    }

    /// A listing of the `key` subjects of a kind that a reader may choose for a widget, ordered by
    /// id. It is still to be collected, for `choices(_:by:)`.
    ///
    /// - Parameter after: the order of the last subject on the page before.
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

    /// What each listed subject shows now: the first, up to about a mebibyte and `atMost`.
    ///
    /// - Parameter family: nil means what any family gets. Without a cut, a subject is left out.
    /// - Returns: `next`: the order of the last subject looked at; nil if there are no more.
    package func choices(
        _ listing: TimelineListing, family: WidgetFamily?, by reader: TimelineReader, now: Instant,
        atMost: Int = TimelineListing.choices
    ) -> (choices: [(key: Identifier, now: TimelineEntries)], next: [String]?) {
        var choices: [(key: Identifier, now: TimelineEntries)] = []
        var bytes = 0
        var last: [String]?
        for key in listing.keys.prefix(listing.limit) {
            let own = device(of: reader, key.tenant)
            // It may belong to somebody else by now.
            guard let row = timelines[key], row.isReadable(by: reader, own),
                case .key(let id) = key.subject
            else { continue }
            let cut: FamilyCut?
            let source = row.timeline.from.flatMap { activities.source($0, of: key) }
            do { cut = try types.cut(of: row, source, family) } catch { continue }
            // A cut is searched for in all of the content, which takes longer than a copy.
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
    /// The user whose timelines a device may read. The device may have got another user since its
    /// key was made.
    fileprivate func user(of device: Device?) -> String? {
        guard case .device(_, let bound) = self, let user = device?.registration.user,
            bound == nil || isSameText(bound, user)
        else { return nil }
        return user
    }
}

extension StoredTimeline {
    /// Whether a reader may know of the timeline.
    ///
    /// - Parameter device: the reader's; nil if it is not registered.
    func isReadable(by reader: TimelineReader, _ device: Device?) -> Bool {
        guard case .device(let id, _) = reader else { return true }
        switch key.subject {
        // The key of a deleted device may still exist.
        case .device(let own): return own == id && device != nil
        case .user(let user): return isSameText(user, reader.user(of: device))
        case .key:
            guard let user = reader.user(of: device) else { return false }
            return timeline.readers.contains { isSameText($0, user) }
        }
    }
}
