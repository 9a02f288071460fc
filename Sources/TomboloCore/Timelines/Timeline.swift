package import TomboloJSON

/// What the widgets of one kind show of one subject, and when that changes. `body` has what the
/// producer sent, such as contents and links. The other members are what the relay needs of it.
package struct Timeline: Hashable, Sendable {
    /// When a widget wants new entries, in WidgetKit's words (`TimelineReloadPolicy`).
    package enum Policy: Hashable, Sendable {
        case atEnd
        case never
        case after(Instant)
    }

    package var schedule: TimelineSchedule?
    package var policy: Policy
    /// The type whose states the contents are: each widget family gets its cut of them; nil: no
    /// cuts.
    package var type: String?
    /// The activity whose state is the content; nil: the body has the content.
    package var from: Identifier?
    /// The dates of the producer's own entries, ascending, each once.
    package var dates: [Instant]
    /// Users whose devices may read the timeline; only for a subject of kind `key`.
    package var readers: [String]
    /// The body as the producer has sent it.
    package var body: JSON
    /// Where the members of the body are in its bytes.
    package var outline: JSONOutline
    /// The same for the members of each entry, in the order of `dates`.
    var entryOutlines: [JSONOutline]
    /// A hash of the members that a widget can get, by value.
    package var visibleHash: UInt64
    /// Hashes of all links in the entries, ascending. Only this log can compute them.
    var linkHashes: [Int64] = []
    /// True if the body itself has content, not only its entries.
    package var hasContent: Bool { outline["content"] != nil }
    /// Size of the body in bytes.
    package var bytes: Int { body.bytes.count }

    package static let entriesMax = 400
    /// Maximum number of readers, because all their devices are examined in one step.
    package static let readersMax = 500
    /// Maximum size of the body: enough for a picture in base64.
    package static let bytesMax = 1 << 20
    /// Maximum number of the readers' devices, because they are examined in one step.
    package static let readersDevicesMax = 10_000
    /// Maximum number of readers of all timelines that show one activity, because an event reloads
    /// all their widgets in one step. A timeline of a user or a device counts as one.
    package static let ofActivityMax = 1_000
    /// Maximum number of timelines of one device, because a change of its user removes all of them
    /// together.
    package static let ofDeviceMax = 500
    /// Maximum size of a body with a type, because each read cuts all entries in one step.
    package static let cutBytesMax = 128 << 10
    static let linksMax = 16
    static let urlBytesMax = 2_048

    /// All links in the body and its entries.
    static func links(of view: JSONView) -> [String] {
        ([view] + (view["entries"].map { Array($0.elements) } ?? [])).flatMap { entry in
            let links = entry["links"]?.elements.compactMap(\.string) ?? []
            return (entry["url"]?.string).map { [$0] + links } ?? links
        }
    }
}

/// A timeline as it is stored.
struct StoredTimeline: Sendable {
    let number: Int64
    let key: TimelineKey
    var timeline: Timeline
    /// Wall time at which the producer last sent the timeline.
    var updatedAt: Instant
    /// The newest date for which the producer was asked, in wall time.
    var askedThrough: Instant
    /// Links of earlier contents, newest first: a widget shows them until it fetches again.
    var former: [FormerLinks] = []
    /// Hashes of what each widget family gets of the timeline.
    let cutHashes = CutHashes()

    /// Links of an earlier content, and until when taps on them are accepted.
    struct FormerLinks: Hashable, Sendable {
        /// As in `Timeline.linkHashes`.
        let hashes: [Int64]
        /// In wall time.
        let until: Instant
    }

    /// Maximum number of remembered links: twice as many as a timeline can have.
    static let formerMax = 2 * Timeline.entriesMax * (Timeline.linksMax + 1)

    func isAhead(of wall: Instant) -> Bool { max(updatedAt, askedThrough) > wall }

    /// Corrects times after the wall clock was ahead.
    mutating func followClock(backTo wall: Instant) {
        (updatedAt, askedThrough) = (min(updatedAt, wall), min(askedThrough, wall))
    }

    /// Size in bytes, which counts for the tenant's limit.
    var bytes: Int { timeline.bytes + former.reduce(0) { $0 + $1.hashes.count * 8 } }

    /// True if the present content has this link, or one of the last 24 hours had it.
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

    /// The earlier links that the next version of this timeline remembers.
    func formerLinks(at wall: Instant) -> [FormerLinks] {
        var room = Self.formerMax
        let own = FormerLinks(hashes: timeline.linkHashes, until: wall + .hours(24))
        return ([own] + former).prefix { links in
            room -= links.hashes.count
            return room >= 0 && links.until > wall && !links.hashes.isEmpty
        }
    }

    /// When the producer is asked for new content, and why.
    struct Due: Hashable, Sendable {
        enum Cause: String, Hashable, Sendable {
            /// The schedule's content changes then.
            case boundary
            /// The last entry begins soon.
            case atEnd = "at_end"
            /// The date of the policy `after` has come.
            case after
        }

        /// In wall time.
        var at: Instant
        var cause: Cause
    }

    /// With policy `atEnd`, the producer is asked this long before the date of the last entry.
    static let aheadOfEnd = Span.minutes(10)

    /// The first time after `askedThrough` at which the producer must be asked; nil: never.
    ///
    /// - Parameter zones: the time zones that the schedule follows.
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
            // If the last entry had passed when it was sent, the producer is not asked for more.
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
        writer.object { writer in
            writer.member("tenant", key.tenant.name.rawValue)
            writer.member("app", key.app)
            writer.member("kind", key.kind.rawValue)
            writer.member("updated", updatedAt.nanoseconds)
            if askedThrough != .distantPast { writer.member("asked", askedThrough.nanoseconds) }
            if !former.isEmpty {
                writer.array("former", of: former) { writer, links in
                    writer.array { writer in
                        writer.integer(links.until.nanoseconds)
                        for hash in links.hashes { writer.integer(hash) }
                    }
                }
            }
            writer.member("body", timeline.body)
        }
        return Record(space: .timeline, number: number, value: writer.bytes)
    }

    /// Returns nil if the bytes are not a timeline. The caller then reports the record.
    ///
    /// - Parameter hash: hashes a link, as in `Timeline.linkHashes`.
    static func read(
        _ bytes: [UInt8], number: Int64, hash: (String) -> Int64 = { _ in 0 }
    ) -> StoredTimeline? {
        guard let view = try? JSONView.stored(bytes),  // nil reports damage
            let tenant = view["tenant"]?.string.flatMap(Identifier.init),
            let app = view["app"]?.string,
            let kind = view["kind"]?.string.flatMap(Identifier.init),
            let updated = view["updated"]?.integer,
            let body = view["body"]?.json.document.root,
            let request = try? TimelineRequest(reading: body)  // the same
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
