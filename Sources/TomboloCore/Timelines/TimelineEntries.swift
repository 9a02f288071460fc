package import TomboloJSON

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

    /// An entry's date, and where its content is in the body.
    fileprivate struct Place: Sendable {
        var date: Instant
        /// Among the body's entries; nil: the body itself.
        var index: Int?
        var isProvisional: Bool
        /// Of that entry, or of the body.
        var outline: JSONOutline?
    }

    fileprivate var body: JSON
    fileprivate var bodyHash: UInt64
    fileprivate var places: [Place]
    fileprivate var hasLinks: Bool
    /// With a type, what the cut leaves of each place's content; nil: all of it.
    fileprivate var cuts: [JSON]?
    package private(set) var policy: Timeline.Policy
    /// Whose states the contents are.
    package fileprivate(set) var type: String?

    /// Two answers to one request are the same where their versions are. It costs a look at the
    /// content only where that is cut. Each input of `entries` and `policy` goes in here.
    package var version: UInt64 {
        var hash = StableHash()
        func add(_ value: UInt64) {
            withUnsafeBytes(of: value) { hash.combine($0) }
        }
        add(bodyHash)
        add(hasLinks ? 1 : 0)
        for cut in cuts ?? [] { hash.combine(cut.bytes) }
        for place in places {
            add(UInt64(bitPattern: place.date.nanoseconds))
            add(UInt64(place.index.map { $0 + 1 } ?? 0) << 1 | (place.isProvisional ? 1 : 0))
        }
        return hash.value
    }

    /// Names what its producer has put: another content has another one.
    package var source: UInt64 { bodyHash }

    /// About how many bytes it has when it is written, at most.
    package var bytesMax: Int {
        let own = places.count { $0.index == nil }
        return (own + (own < places.count ? 1 : 0)) * body.bytes.count + places.count * 128 + 128
    }

    /// The entries themselves. Each is copied out of the body as it is asked for.
    package var entries: some RandomAccessCollection<Entry> {
        places.indices.lazy.map { number in
            let place = places[number]
            func member(_ name: String) -> JSON? {
                (place.outline?[name]).map { body.value(at: $0) }
            }
            return Entry(
                date: place.date,
                content: cuts?[number] ?? member("content") ?? .emptyObject,
                url: member("url")?.document.root.string, links: hasLinks ? member("links") : nil,
                relevance: member("relevance"), isProvisional: place.isProvisional)
        }
    }

    /// When a widget has something else to show; nil: it stays as it is.
    package func nextBoundary(after now: Instant) -> Instant? {
        places.first { $0.date > now }?.date
    }

    /// For a widget that has nothing to show: one empty entry, whose date is in the past.
    package static let placeholder = TimelineEntries(
        body: .emptyObject, bodyHash: 0,
        places: [Place(date: Instant(seconds: 0), index: nil, isProvisional: true)],
        hasLinks: false, policy: .never)

    /// Cuts each content once: those of a schedule are one and the same.
    fileprivate mutating func apply(_ cut: FamilyCut) {
        var own: JSON?
        cuts = places.map { place in
            if place.index == nil, let own { return own }
            let content = (place.outline?["content"]).map { body.value(at: $0) } ?? .emptyObject
            let rest = cut.applied(to: content)
            if place.index == nil { own = rest }
            return rest
        }
    }

    /// Whether it is the placeholder.
    package var isEmpty: Bool { places.first?.date == Instant(seconds: 0) }

    /// Its first entry alone.
    package var snapshot: TimelineEntries {
        var first = self
        first.places = Array(places.prefix(1))
        first.cuts = cuts.map { Array($0.prefix(1)) }
        return first
    }
}

extension StoredTimeline {
    /// What a widget shows from a moment of wall time on.
    ///
    /// - Parameters:
    ///   - rules: of the device's zone, or of the schedule's own.
    ///   - family: nil: as for the largest.
    ///   - cut: of its type for that family; nil: all of the content.
    ///   - isSnapshot: the first entry will do.
    func entries(
        at moment: Instant, in rules: TimeZoneRules, family: WidgetFamily?, cut: FamilyCut?,
        isSnapshot: Bool = false
    ) -> TimelineEntries {
        var places: [TimelineEntries.Place] = []
        func add(_ date: Instant, _ index: Int? = nil, isProvisional: Bool = false) {
            places.append(
                TimelineEntries.Place(
                    date: date, index: index, isProvisional: isProvisional,
                    outline: index.map { timeline.entryOutlines[$0] } ?? timeline.outline))
        }
        if let schedule = timeline.schedule {
            let last = schedule.boundary(notAfter: moment, in: rules)
            add(max(last, updatedAt), isProvisional: last > updatedAt)
            let count = isSnapshot ? 0 : schedule.count
            for date in schedule.boundaries(after: moment, count: count, in: rules) {
                add(date, isProvisional: true)
            }
        } else {
            let begun = timeline.dates.lastIndex { $0 <= moment }
            if begun == nil, timeline.hasContent { add(updatedAt) }
            for index in (begun ?? 0)..<timeline.dates.count { add(timeline.dates[index], index) }
        }
        var all = TimelineEntries(
            body: timeline.body, bodyHash: timeline.visibleHash, places: places,
            hasLinks: family?.hasLinks ?? true, policy: timeline.policy, type: timeline.type)
        if isSnapshot { all = all.snapshot }
        if let cut { all.apply(cut) }
        return all
    }
}
