package import TomboloJSON

/// What a widget's `TimelineProvider` gets: entries by date; the first one is for now.
package struct TimelineEntries: Sendable {
    /// What a widget shows from `date` on.
    package struct Entry: Sendable {
        package var date: Instant
        package var content: JSON
        package var url: String?
        /// A JSON array of URLs.
        package var links: JSON?
        package var relevance: JSON?
        /// True if the producer has not sent the content for this date yet, so that an older one is
        /// shown.
        package var isProvisional: Bool
    }

    /// The date of an entry, and where its content is in the body.
    fileprivate struct Place: Sendable {
        var date: Instant
        /// Index of the entry in the body; nil: the body itself has the content.
        var index: Int?
        var isProvisional: Bool
        /// Where the members of that entry, or of the body, are.
        var outline: JSONOutline?
    }

    fileprivate var body: JSON
    fileprivate var bodyHash: UInt64
    fileprivate var places: [Place]
    fileprivate var hasLinks: Bool
    /// The part of each content that the widget's family gets; nil: all of it.
    fileprivate var cut: FamilyCut?
    /// This part of each content; nil if it was not computed yet.
    fileprivate var cuts: [JSON]?
    /// If there is a cut: for each place, a hash of what the widget gets. For a widget with several
    /// subjects: for each subject, a hash of its content.
    fileprivate var hashes: [UInt64] = []
    /// Where the hashes of this timeline are kept; nil if they are not kept.
    fileprivate var known: (hashes: CutHashes, family: WidgetFamily?, count: Int)?
    package private(set) var policy: Timeline.Policy
    /// The type whose states the contents are; nil if there is no type.
    package fileprivate(set) var type: String?
    /// The only entry, if its content is not in the body: an activity's state, or several subjects.
    fileprivate var made: Entry?
    /// For a widget with several subjects: what it would show of each one alone. `made` then has no
    /// content.
    fileprivate var items: [TimelineEntries?]?
    /// True if there is no timeline to show.
    fileprivate var isPlaceholder = false
    /// Until when `made` is valid, if several subjects are shown.
    fileprivate var madeUntil: Instant?

    /// If two versions are equal, the answers to one request are equal, too. It is computed from
    /// hashes only, so all that `entries` and `policy` depend on must be hashed here.
    package var version: UInt64 {
        var hash = StableHash()
        func add(_ value: UInt64) {
            withUnsafeBytes(of: value) { hash.combine($0) }
        }
        // With a cut, the widget does not get all of the body, so the body's hash must not count.
        if cut == nil, made == nil { add(bodyHash) }
        add(hasLinks ? 1 : 0)
        hashes.forEach(add)
        hash.combine(Array((type ?? "").utf8))
        if case .after(let date) = policy { add(UInt64(bitPattern: date.nanoseconds)) }
        add(policy == .never ? 1 : 0)
        if let made {
            add(UInt64(bitPattern: made.date.nanoseconds))
            add(Self.hash(of: made))
        }
        for place in places {
            add(UInt64(bitPattern: place.date.nanoseconds))
            add(UInt64(place.index.map { $0 + 1 } ?? 0) << 1 | (place.isProvisional ? 1 : 0))
        }
        return hash.value
    }

    /// A hash of what a widget gets of an entry, except its date.
    private static func hash(of entry: Entry) -> UInt64 {
        var hash = StableHash()
        for part in [
            entry.content.valueHash, entry.links?.valueHash ?? 0, entry.relevance?.valueHash ?? 0,
        ] {
            withUnsafeBytes(of: part) { hash.combine($0) }
        }
        hash.combine(Array((entry.url ?? "").utf8))
        return hash.value
    }

    /// An upper estimate of the size in an answer, in bytes.
    package var bytesMax: Int {
        if let made {
            return (items ?? []).reduce(made.content.bytes.count) { $0 + ($1?.bytesMax ?? 2) }
                + (made.links?.bytes.count ?? 0) + Timeline.urlBytesMax + 512
        }
        let own = places.count { $0.index == nil }
        return (own + (own < places.count ? 1 : 0)) * body.bytes.count + places.count * 128 + 128
    }

    /// The entries. Each one is copied from the body when it is read.
    package var entries: some RandomAccessCollection<Entry> {
        var all = self
        all.applyCut()
        return all.places.indices.lazy.map { [all] in all.entry($0) }
    }

    /// For a widget with several subjects: the only entry, without its content, and what each
    /// subject shows. Nil for a widget with one subject.
    package var several: (entry: Entry, items: [TimelineEntries?])? {
        guard let made, let items else { return nil }
        return (made, items)
    }

    /// The date of the first entry, and whether its content is provisional.
    package var begun: (date: Instant, isProvisional: Bool)? {
        places.first.map { ($0.date, made?.isProvisional ?? $0.isProvisional) }
    }

    private var url: String? {
        guard made == nil else { return made?.url }
        return (places.first?.outline?["url"]).flatMap { body.value(at: $0).document.root.string }
    }

    private func entry(_ number: Int) -> Entry {
        if var made {
            if items != nil { made.content = itemsContent }
            return made
        }
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

    private var itemsContent: JSON {
        JSON.object { writer in
            writer.array("items", of: items ?? []) {
                $0.raw($1?.entries.first?.content ?? .emptyObject)
            }
        }
    }

    /// When the widget shows something else; nil: never.
    package func nextBoundary(after now: Instant) -> Instant? {
        made == nil ? places.first { $0.date > now }?.date : madeUntil
    }

    /// What a widget without a timeline shows: one empty entry with a date in the past.
    package static let placeholder = TimelineEntries(
        body: .emptyObject, bodyHash: 0,
        places: [Place(date: Instant(seconds: 0), index: nil, isProvisional: true)],
        hasLinks: false, policy: .never, isPlaceholder: true)

    /// Computes the cut of each content once. (The entries of a schedule share one content.)
    /// Without this call each access to `entries` computes it again.
    package mutating func applyCut() {
        guard let cut, cuts == nil else { return }
        var own: JSON?
        cuts = places.map { place in
            if place.index == nil, let own { return own }
            let content = (place.outline?["content"]).map { body.value(at: $0) } ?? .emptyObject
            let rest = cut.applied(to: content)
            if place.index == nil { own = rest }
            return rest
        }
    }

    /// Sets the family's cut, and gets the hashes for it from `known`.
    fileprivate mutating func set(
        _ cut: FamilyCut, _ family: WidgetFamily?, known: CutHashes, among count: Int
    ) {
        self.cut = cut
        hashes = known.hashes(.all, of: places.map(\.index), family, cut, among: count) {
            applyCut()
            return places.indices.map { Self.hash(of: entry($0)) }
        }
    }

    private var contentHash: UInt64 {
        func hash() -> UInt64 {
            var hash = StableHash()
            withUnsafeBytes(of: entries.first?.content.valueHash ?? 0) { hash.combine($0) }
            return hash.value
        }
        guard let known, let first = places.first else { return hash() }
        return known.hashes.hashes(
            .content, of: [first.index], known.family, cut, among: known.count
        ) { [hash()] }.first ?? 0
    }

    package var isEmpty: Bool { isPlaceholder }

    /// The same with the first entry only.
    package var snapshot: TimelineEntries {
        var first = self
        first.places = Array(places.prefix(1))
        first.cuts = cuts.map { Array($0.prefix(1)) }
        first.hashes = Array(hashes.prefix(1))
        return first
    }
}

extension StoredTimeline {
    /// What a widget shows from a wall time on.
    ///
    /// - Parameters:
    ///   - rules: the time zone of the device, or of the schedule.
    ///   - family: nil: the largest one.
    ///   - cut: what the type defines for this family; nil: no cut.
    ///   - source: the activity to show; nil if there is none.
    ///   - isSnapshot: true if only the first entry is needed.
    func entries(
        at moment: Instant, in rules: TimeZoneRules, family: WidgetFamily?, cut: FamilyCut?,
        source: TimelineSource? = nil, isSnapshot: Bool = false
    ) -> TimelineEntries {
        guard timeline.from == nil else { return entry(of: source, family, cut) }
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
        all.known = (cutHashes, family, timeline.entryOutlines.count)
        if let cut {
            all.set(cut, family, known: cutHashes, among: timeline.entryOutlines.count)
        }
        return all
    }

    /// An activity's state as one entry; its content is empty if there is no activity.
    private func entry(
        of source: TimelineSource?, _ family: WidgetFamily?, _ cut: FamilyCut?
    ) -> TimelineEntries {
        func member(_ name: String) -> JSON? {
            timeline.outline[name].map { timeline.body.value(at: $0) }
        }
        let hasLinks = family?.hasLinks ?? true
        let content = source.map { cut?.applied(to: $0.state) ?? $0.state } ?? .emptyObject
        // The date of the activity's last change would also change `version` when the widget sees
        // no change.
        let date = updatedAt
        var entries = TimelineEntries(
            body: .emptyObject, bodyHash: timeline.visibleHash,
            places: [
                TimelineEntries.Place(date: date, index: nil, isProvisional: false, outline: nil)
            ],
            hasLinks: hasLinks, policy: timeline.policy, type: source?.type)
        entries.made = TimelineEntries.Entry(
            date: date, content: content, url: member("url")?.document.root.string,
            links: hasLinks ? member("links") : nil, relevance: member("relevance"),
            isProvisional: false)
        return entries
    }
}

extension TimelineEntries {
    /// Maximum number of subjects that one widget can show.
    package static let itemsMax = 4

    /// What a widget with several subjects shows: one entry whose content has `items` in the order
    /// of the subjects. A missing subject has an empty item.
    ///
    /// - Parameters:
    ///   - all: what each subject shows alone; nil if it is missing, or this reader may not read
    /// it.
    ///   - now: wall time.
    package static func together(_ all: [TimelineEntries?], at now: Instant) -> TimelineEntries {
        var together = TimelineEntries.placeholder
        together.isPlaceholder = false
        var links = JSONWriter()
        var url: String?
        var date = Instant(seconds: 0)
        links.array { links in
            for one in all {
                if let link = one?.url {
                    url = url ?? link
                    links.string(link)
                }
                date = max(date, one?.begun?.date ?? date)
                // The subjects belong to one kind of widget, so they usually have the same type.
                together.type = together.type ?? one?.type
                if let next = one?.nextBoundary(after: now) {
                    together.madeUntil = min(together.madeUntil ?? next, next)
                }
            }
        }
        let hasLinks = url != nil && all.contains { $0?.hasLinks == true }
        let items = all.map { $0?.snapshot }
        together.items = items
        // `version` hashes the other parts with `made`.
        together.hashes = items.map { $0?.contentHash ?? 0 }
        together.made = Entry(
            date: date, content: .emptyObject, url: url, links: hasLinks ? links.json : nil,
            relevance: nil, isProvisional: false)
        together.places[0].date = date
        together.policy = together.madeUntil.map { .after($0) } ?? .never
        return together
    }
}
