package import TomboloCore

// Timelines of widgets.

extension Relay {
    /// Stores or deletes a timeline. Returns when the change is durable.
    package func submitTimelineCommand(_ command: TimelineCommand, of tenant: TenantID) async
        -> Answer
    {
        await ask { .timeline(command, tenant, $0) }
    }

    /// A page of a tenant's timelines, sorted by app, kind and subject.
    ///
    /// - Parameter after: sort key of the last timeline of the previous page.
    package func timelines(
        of tenant: TenantID, kind: Identifier?, after: [String]?, limit: Int
    ) async -> (views: [TimelineView], next: [String]?) {
        let listing = await collected(
            TimelineListing(tenant, kind: kind, after: after, limit: limit))
        return read { core, _ in
            var (views, bytes) = ([TimelineView](), 0)
            for key in listing.keys {
                guard views.count < limit, bytes < IDPage.bytesMax else {
                    return (views, views.last?.key.order)
                }
                guard let view = core.timeline(key) else { continue }
                bytes += view.timeline.bytes
                views.append(view)
            }
            return (views, nil)
        }
    }

    /// The entries that a widget shows from now on.
    ///
    /// - Parameter moment: a time of the relay's steady clock, not in the future; nil means now.
    package func entries(
        _ kind: Identifier, app: String?, _ subject: TimelineSubject?, family: WidgetFamily?,
        by reader: TimelineReader, of tenant: TenantID, at moment: Instant? = nil
    ) -> Result<(entries: TimelineEntries, now: Instant), Refusal> {
        attempt { (core, present) throws(Refusal) in
            let now = moment ?? present
            let entries = try core.entries(
                kind, app: app, subject, family: family, by: reader, of: tenant, now: now)
            return (entries, core.wall(now))
        }
    }

    /// A page of the subjects for which a kind of widget can be configured, with the present
    /// content of each.
    ///
    /// - Parameters:
    ///   - family: nil means entries for any family.
    ///   - after: sort key of the last subject of the previous page.
    ///   - atMost: size of a page. A page has at least one choice if there are any.
    package func choices(
        _ kind: Identifier, app: String?, family: WidgetFamily?, by reader: TimelineReader,
        of tenant: TenantID, after: [String]? = nil, atMost: Int = TimelineListing.choices
    ) async -> Result<
        (choices: [(key: Identifier, now: TimelineEntries)], next: [String]?), Refusal
    > {
        var after = after
        while true {
            let listing: TimelineListing
            switch attempt({ (core, _) throws(Refusal) in
                try core.choosable(kind, app: app, by: reader, after: after, of: tenant)
            }) {
            case .success(let whole): listing = await collected(whole)
            case .failure(let refusal): return .failure(refusal)
            }
            let page = read { core, now in
                core.choices(listing, family: family, by: reader, now: now, atMost: atMost)
            }
            // A page may have no choice with content for the family: go to the next page.
            guard page.choices.isEmpty, let next = page.next else { return .success(page) }
            after = next
            await letOthersGo()
        }
    }

    private func collected(_ listing: TimelineListing) async -> TimelineListing {
        var listing = listing
        while listing.place != nil {
            read { core, _ in core.collect(&listing) }
            if listing.place != nil { await letOthersGo() }
        }
        return listing
    }
}
