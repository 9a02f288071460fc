package import TomboloJSON

/// What the widgets of one kind show of one subject, and when that changes.
///
/// Content, links and the like stay in `body` as the producer sent them; the other members are what
/// the relay itself uses.
package struct Timeline: Hashable, Sendable {
    /// When a widget asks for more, by the names of WidgetKit (`TimelineReloadPolicy`).
    package enum Policy: Hashable, Sendable {
        case atEnd
        case never
        case after(Instant)
    }

    package var schedule: TimelineSchedule?
    package var policy: Policy
    /// The type whose states the contents are: a widget gets its family's cut; nil means no cut.
    package var type: String?
    /// The activity whose state, with its type, is the content; nil means the content is its own.
    package var from: Identifier?
    /// Dates of the producer's own entries, strictly ascending.
    package var dates: [Instant]
    /// Users whose devices may read the timeline; only for a subject `key`.
    package var readers: [String]
    /// The body as the producer sent it.
    package var body: JSON
    /// The outline of the body's members.
    package var outline: JSONOutline
    /// The outline of each entry's members, in the order of `dates`.
    var entryOutlines: [JSONOutline]
    /// A hash of the bytes that a widget may see, as they were sent.
    package var visibleHash: UInt64
    /// Hashes of all links of its entries, ascending; only this log can make them.
    var linkHashes: [Int64] = []
    /// Whether the body has content of its own, apart from entries with dates.
    package var hasContent: Bool { outline["content"] != nil }
    /// The size of its body.
    package var bytes: Int { body.bytes.count }

    /// Entries of one timeline, at most.
    package static let entriesMax = 400
    /// Readers of one timeline, at most: all their devices are looked at in one step.
    package static let readersMax = 500
    /// Allows for a picture in base64.
    package static let bytesMax = 1 << 20
    /// The devices of all readers of a request, at most: they are looked at in one step.
    package static let readersDevicesMax = 10_000
    /// Readers of all timelines that show one activity, at most: an event of the activity reloads
    /// their widgets in one step. A timeline of a user or a device counts as one.
    package static let ofActivityMax = 1_000
    /// Timelines of one device, at most: all are removed together when its user changes.
    package static let ofDeviceMax = 500
    /// The body with a type, at most: each read cuts each entry, in one step.
    package static let cutBytesMax = 128 << 10
    static let linksMax = 16
    static let urlBytesMax = 2_048

    /// All links in the entries of a body.
    static func links(of view: JSONView) -> [String] {
        ([view] + (view["entries"].map { Array($0.elements) } ?? [])).flatMap { entry in
            let links = entry["links"]?.elements.compactMap(\.string) ?? []
            return (entry["url"]?.string).map { [$0] + links } ?? links
        }
    }
}

/// A timeline in memory and on disk.
struct StoredTimeline: Sendable {
    let number: Int64
    let key: TimelineKey
    var timeline: Timeline
    /// Wall time at which the producer last set the content.
    var updatedAt: Instant
    /// Wall time of the newest moment for which the producer was asked.
    var askedThrough: Instant
    /// The links of earlier entries, newest first: a widget shows them until it fetches.
    var former: [FormerLinks] = []
    /// Hashes of what families get of the timeline.
    let cutHashes = CutHashes()

    /// Links of former entries, and until when a tap on one counts.
    struct FormerLinks: Hashable, Sendable {
        /// Like `Timeline.linkHashes`.
        let hashes: [Int64]
        /// Wall time.
        let until: Instant
    }

    /// Twice the number of links that a timeline may have.
    static let formerMax = 2 * Timeline.entriesMax * (Timeline.linksMax + 1)

    func isAhead(of wall: Instant) -> Bool { max(updatedAt, askedThrough) > wall }

    /// The clock was ahead and is now right.
    mutating func followClock(backTo wall: Instant) {
        (updatedAt, askedThrough) = (min(updatedAt, wall), min(askedThrough, wall))
    }

    /// The size that counts against its tenant's limit.
    var bytes: Int { timeline.bytes + former.reduce(0) { $0 + $1.hashes.count * 8 } }

    /// Whether a current entry, or one of the last 24 hours, has this link.
    func offers(_ hash: Int64, at wall: Instant) -> Bool {
        Self.holds(timeline.linkHashes, hash)
            || former.contains { $0.until > wall && Self.holds($0.hashes, hash) }
    }

    private static func holds(_ hashes: [Int64], _ hash: Int64) -> Bool {
        var (low, high) = (0, hashes.count)
        while low < high {
            let middle = (low + high) / 2
            if hashes[middle] < hash { low = middle + 1 } else { high = middle }
        }
        return low < hashes.count && hashes[low] == hash
    }

    /// The former links that the timeline's replacement remembers.
    func formerLinks(at wall: Instant) -> [FormerLinks] {
        var room = Self.formerMax
        let own = FormerLinks(hashes: timeline.linkHashes, until: wall + .hours(24))
        return ([own] + former).prefix { links in
            room -= links.hashes.count
            return room >= 0 && links.until > wall && !links.hashes.isEmpty
        }
    }

    /// When, and why, a producer is asked for new content.
    struct Due: Hashable, Sendable {
        enum Cause: String, Hashable, Sendable {
            /// A boundary of the schedule has passed.
            case boundary
            /// The last entry will be shown soon.
            case atEnd = "at_end"
            /// The date of policy `after` has come.
            case after
        }

        /// Wall time.
        var at: Instant
        var cause: Cause
    }

    /// How long before the last entry of policy `atEnd` a producer is asked.
    static let aheadOfEnd = Span.minutes(10)

    /// The first moment after `askedThrough` at which the producer is to be asked; nil if none.
    ///
    /// - Parameter zones: those of the devices with the timeline, if the schedule follows them.
    func nextDue(_ zones: [TimeZoneRules]) -> Due? {
        let from = max(askedThrough, updatedAt)
        var due: [Due] = []
        if let schedule = timeline.schedule, timeline.policy != .never {
            for rules in zones {
                due += schedule.boundaries(after: from, count: 1, in: rules)
                    .map { Due(at: $0, cause: .boundary) }
            }
        }
        switch timeline.policy {
        case .never: break
        case .atEnd:
            // Entries that were already over when they came need no new ones.
            if let last = timeline.dates.last, last > updatedAt {
                let ahead = max(last - Self.aheadOfEnd, updatedAt + .seconds(1))
                if ahead > from { due.append(Due(at: ahead, cause: .atEnd)) }
            }
        case .after(let date): if date > from { due.append(Due(at: date, cause: .after)) }
        }
        return due.min { $0.at < $1.at }
    }

    func record() -> Record {
        var writer = JSONWriter(capacity: timeline.bytes + 256)
        writer.beginObject()
        writer.member("tenant", key.tenant.name.rawValue)
        writer.member("app", key.app)
        writer.member("kind", key.kind.rawValue)
        writer.member("updated", updatedAt.nanoseconds)
        if askedThrough != .distantPast { writer.member("asked", askedThrough.nanoseconds) }
        if !former.isEmpty {
            writer.name("former")
            writer.beginArray()
            for links in former {
                writer.beginArray()
                writer.integer(links.until.nanoseconds)
                for hash in links.hashes { writer.integer(hash) }
                writer.endArray()
            }
            writer.endArray()
        }
        writer.member("body", timeline.body)
        writer.endObject()
        return Record(space: .timeline, number: number, value: writer.bytes)
    }

    /// Nil if the bytes are no timeline: the caller reports and sets them aside.
    ///
    /// - Parameter hash: hashes a link as in `Timeline.linkHashes`.
    static func read(
        _ bytes: [UInt8], number: Int64, hash: (String) -> Int64 = { _ in 0 }
    ) -> StoredTimeline? {
        guard let view = try? JSONView.stored(bytes),  // damage is the answer
            let tenant = view["tenant"]?.string.flatMap(Identifier.init),
            let app = view["app"]?.string,
            let kind = view["kind"]?.string.flatMap(Identifier.init),
            let updated = view["updated"]?.integer,
            let body = view["body"]?.json.document.root,
            let request = try? TimelineRequest(reading: body)  // as above
        else { return nil }
        var timeline = request.timeline
        timeline.linkHashes = request.links.map(hash).sorted()
        return StoredTimeline(
            number: number,
            key: TimelineKey(
                tenant: TenantID(tenant), app: app, kind: kind, subject: request.subject),
            timeline: timeline, updatedAt: Instant(nanoseconds: updated),
            askedThrough: view["asked"]?.integer.map(Instant.init(nanoseconds:)) ?? .distantPast,
            former: view["former"]?.elements.map { links in
                let numbers = links.elements.compactMap(\.integer)
                return FormerLinks(
                    hashes: Array(numbers.dropFirst()),
                    until: Instant(nanoseconds: numbers.first ?? 0))
            } ?? [])
    }
}
