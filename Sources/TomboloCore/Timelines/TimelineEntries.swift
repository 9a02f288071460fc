package import TomboloJSON

/// The families of widgets, by WidgetKit's names (`WidgetFamily`).
package enum WidgetFamily: String, Hashable, Sendable, CaseIterable {
    case systemSmall, systemMedium, systemLarge, systemExtraLarge
    case accessoryInline, accessoryCircular, accessoryRectangular, accessoryCorner

    /// Whether it has more than one place to tap (Apple, "Linking to specific app scenes from your
    /// widget or Live Activity"): the others open the entry's `url`.
    package var hasLinks: Bool {
        switch self {
        case .systemMedium, .systemLarge, .systemExtraLarge: true
        case .systemSmall, .accessoryInline, .accessoryCircular, .accessoryRectangular,
            .accessoryCorner:
            false
        }
    }
}

/// What a widget's `TimelineProvider` gets: entries in the order of time, the first one for now.
package struct TimelineEntries: Sendable {
    /// What a widget shows from a date on.
    package struct Entry: Sendable {
        package var date: Instant
        package var content: JSON
        package var url: String?
        /// An array of URLs.
        package var links: JSON?
        package var relevance: JSON?
        /// The producer has not yet said what is so at this date.
        package var isProvisional: Bool
    }

    package var entries: [Entry]
    package var policy: Timeline.Policy
    /// When a widget has something else to show; nil: it stays as it is.
    package func nextBoundary(after now: Instant) -> Instant? {
        entries.first { $0.date > now }?.date
    }

    /// For a widget that has nothing to show: one empty entry, whose date is in the past.
    package static let placeholder = TimelineEntries(
        entries: [
            Entry(date: Instant(seconds: 0), content: .emptyObject, isProvisional: true)
        ], policy: .never)

    /// Whether it is the placeholder.
    package var isEmpty: Bool { entries.first?.date == Instant(seconds: 0) }

    /// Its first entry alone.
    package var snapshot: TimelineEntries {
        TimelineEntries(entries: Array(entries.prefix(1)), policy: policy)
    }
}

extension StoredTimeline {
    /// What a widget shows from a moment of wall time on.
    ///
    /// - Parameters:
    ///   - rules: of the device's zone, or of the schedule's own.
    ///   - family: nil: as for the largest.
    ///   - isSnapshot: the first entry will do.
    func entries(
        at moment: Instant, in rules: TimeZoneRules, family: WidgetFamily?,
        isSnapshot: Bool = false
    ) -> TimelineEntries {
        let root = timeline.body.document.root
        let hasLinks = family?.hasLinks ?? true
        func entry(_ view: JSONView, _ date: Instant, isProvisional: Bool = false)
            -> TimelineEntries.Entry
        {
            TimelineEntries.Entry(
                date: date, content: view["content"]?.json ?? .emptyObject,
                url: view["url"]?.string, links: hasLinks ? view["links"]?.json : nil,
                relevance: view["relevance"]?.json, isProvisional: isProvisional)
        }
        var entries: [TimelineEntries.Entry] = []
        if let schedule = timeline.schedule {
            let last = schedule.boundary(notAfter: moment, in: rules)
            let isOver = last > updatedAt
            entries.append(entry(root, max(last, updatedAt), isProvisional: isOver))
            let count = isSnapshot ? 0 : schedule.count
            for date in schedule.boundaries(after: moment, count: count, in: rules) {
                entries.append(entry(root, date, isProvisional: true))
            }
        } else {
            let begun = timeline.dates.lastIndex { $0 <= moment }
            if begun == nil, root["content"] != nil { entries.append(entry(root, updatedAt)) }
            let views = root["entries"].map { Array($0.elements) } ?? []
            for index in (begun ?? 0)..<views.count {
                entries.append(entry(views[index], timeline.dates[index]))
            }
        }
        let all = TimelineEntries(entries: entries, policy: timeline.policy)
        return isSnapshot ? all.snapshot : all
    }
}
