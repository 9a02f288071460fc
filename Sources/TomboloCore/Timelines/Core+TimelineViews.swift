import TomboloJSON

// How producers and widgets read timelines.

/// A timeline as a producer sees it.
package struct TimelineView: Sendable {
    package var key: TimelineKey
    package var timeline: Timeline
    package var updatedAt: Instant
    /// When the producer will be asked for new content; nil: never.
    package var dueAt: Instant?
}

/// Who reads the entries of a widget.
package enum TimelineReader: Hashable, Sendable {
    /// A device. It may read what its user may, but nothing of a user to whom its key is not bound.
    case device(Identifier, boundTo: String?)
    /// A key that may read all timelines of the tenant.
    case anybody
}

extension Core {
    /// A timeline; if `app` is nil, that of the tenant's only app. Throws if there is none.
    package func timeline(
        _ kind: Identifier, app: String?, _ subject: TimelineSubject, of tenant: TenantID
    ) throws(Refusal) -> TimelineView {
        let key = TimelineKey(
            tenant: tenant, app: try configuration.app(app, of: tenant), kind: kind,
            subject: subject)
        guard let row = timelines[key] else { throw .unknownTimeline(key) }
        return timelineView(of: row)
    }

    private func timelineView(of row: StoredTimeline) -> TimelineView {
        TimelineView(
            key: row.key, timeline: row.timeline, updatedAt: row.updatedAt,
            dueAt: row.nextDue(zones(of: row))?.at)
    }

    /// Adds the timelines in the next slots to a listing.
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

    /// A timeline from a listing; nil if it was removed meanwhile.
    package func timeline(_ key: TimelineKey) -> TimelineView? {
        timelines[key].map { timelineView(of: $0) }
    }

    /// What a widget shows from now on. Throws if the timeline does not exist, or if the reader may
    /// not read it.
    ///
    /// - Parameter subject: nil: the device's user, or the device itself if the user has no
    ///   timeline.
    package func entries(
        _ kind: Identifier, app: String?, _ subject: TimelineSubject?, family: WidgetFamily?,
        by reader: TimelineReader, of tenant: TenantID, now: Instant
    ) throws(Refusal) -> TimelineEntries {
        let device = readingDevice(of: reader, tenant)
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

    /// The zone of the device if the schedule follows devices; without a device, of one that shows
    /// it.
    private func rules(for row: StoredTimeline, _ device: Device?) -> TimeZoneRules {
        if row.timeline.schedule?.zone == .device, let name = device?.registration.timeZone,
            let rules = configuration.zones?.rules(of: name)
        {
            return rules
        }
        return zones(of: row).first ?? .utc
    }

    /// A listing of the subjects `key` that the reader may choose for a kind of widget, by id. The
    /// caller collects it, then calls `choices`.
    ///
    /// - Parameter after: the `order` of the last subject on the previous page.
    package func choosable(
        _ kind: Identifier, app: String?, by reader: TimelineReader, after: [String]? = nil,
        of tenant: TenantID
    ) throws(Refusal) -> TimelineListing {
        var listing = TimelineListing(
            tenant, kind: kind, after: after, limit: TimelineListing.choices)
        (listing.app, listing.isOfKeys) = (app, true)
        guard case .device = reader else { return listing }
        let known = readingDevice(of: reader, tenant)
        listing.app = try configuration.app(known?.registration.app ?? app, of: tenant)
        listing.places =
            reader.user(of: known).map {
                timelines.slots(of: kind, readableBy: $0, tenant)
            } ?? []
        return listing
    }

    /// What the listed subjects show now: at most `atMost` of them, in about one mebibyte.
    ///
    /// - Parameter family: nil: what any family gets. A subject whose type has no cut for the
    ///   family is left out.
    /// - Returns: `next` is the `order` of the last subject on the page; nil if the listing is
    ///   over.
    package func choices(
        _ listing: TimelineListing, family: WidgetFamily?, by reader: TimelineReader, now: Instant,
        atMost: Int = TimelineListing.choices
    ) -> (choices: [(key: Identifier, now: TimelineEntries)], next: [String]?) {
        var choices: [(key: Identifier, now: TimelineEntries)] = []
        var bytes = 0
        var last: [String]?
        for key in listing.keys.prefix(listing.limit) {
            let own = readingDevice(of: reader, key.tenant)
            // The timeline may have other readers by now.
            guard let row = timelines[key], row.isReadable(by: reader, own),
                case .key(let id) = key.subject
            else { continue }
            let cut: FamilyCut?
            let source = row.timeline.from.flatMap { activities.source($0, of: key) }
            do { cut = try types.cut(of: row, source, family) } catch { continue }
            // A cut searches the whole content, so it takes longer than a copy.
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

    private func readingDevice(of reader: TimelineReader, _ tenant: TenantID) -> Device? {
        guard case .device(let id, _) = reader else { return nil }
        return devices.slot(of: DeviceKey(tenant: tenant, id: id)).flatMap { devices[$0] }
    }
}

extension TimelineReader {
    /// The user whose timelines a device may read; nil if none. If the key is bound to a user, the
    /// device must still have that user.
    fileprivate func user(of device: Device?) -> String? {
        guard case .device(_, let bound) = self, let user = device?.registration.user,
            bound == nil || isSameText(bound, user)
        else { return nil }
        return user
    }
}

extension StoredTimeline {
    /// True if the reader may read the timeline.
    ///
    /// - Parameter device: the reader's device; nil if it is not registered.
    func isReadable(by reader: TimelineReader, _ device: Device?) -> Bool {
        guard case .device(let id, _) = reader else { return true }
        switch key.subject {
        // A deleted device's key may still exist.
        case .device(let own): return own == id && device != nil
        case .user(let user): return isSameText(user, reader.user(of: device))
        case .key:
            guard let user = reader.user(of: device) else { return false }
            return timeline.readers.contains { isSameText($0, user) }
        }
    }
}
