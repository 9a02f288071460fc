package import TomboloJSON

/// What the widgets of one kind show of one subject, and when it is due to change.
///
/// Content, links and the like stay in `body` as the producer sent them; here is what the relay
/// acts on.
package struct Timeline: Hashable, Sendable {
    /// When a widget asks for more, in WidgetKit's words (`TimelineReloadPolicy`).
    package enum Policy: Hashable, Sendable {
        case atEnd
        case never
        case after(Instant)
    }

    package var schedule: TimelineSchedule?
    package var policy: Policy
    /// Whose states its contents are: a widget gets its family's cut of them; nil: all of them.
    package var type: String?
    /// Its content is the state of this activity, with that one's type; nil: its own.
    package var from: Identifier?
    /// Dates of the producer's own entries, each later than the one before.
    package var dates: [Instant]
    /// Users whose devices may read it; of a subject `key` only.
    package var readers: [String]
    /// As the producer sent it.
    package var body: JSON
    /// The members of the body.
    package var outline: JSONOutline
    /// The members of each of the body's entries, in the order of `dates`.
    var entryOutlines: [JSONOutline]
    /// Of what a widget may see: a hash over its bytes as they were sent.
    package var visibleHash: UInt64
    /// Hashes of all that its entries link to, rising: such that only this log can make them.
    var linkHashes: [Int64] = []
    /// Whether the body has content of its own, apart from entries with dates.
    package var hasContent: Bool { outline["content"] != nil }
    /// Of its body.
    package var bytes: Int { body.bytes.count }

    /// More entries of one timeline are refused.
    package static let entriesMax = 400
    /// More readers are refused: all their devices are looked at in one step.
    package static let readersMax = 500
    /// A picture may be in it, in base64.
    package static let bytesMax = 1 << 20
    /// The devices of all readers at the time of a request are looked at in one step.
    package static let readersDevicesMax = 10_000
    /// Readers of all timelines that show one activity, where one of a user or a device counts as
    /// one: an event of the activity reloads their widgets in one step.
    package static let ofActivityMax = 1_000
    /// Of one device, of all kinds; they leave together when the device gets another user.
    package static let ofDeviceMax = 500
    /// With a type: each read makes the cut of each entry, in one step.
    package static let cutBytesMax = 128 << 10
    static let linksMax = 16
    static let urlBytesMax = 2_048

    /// All that the entries of a body link to.
    static func links(of view: JSONView) -> [String] {
        ([view] + (view["entries"].map { Array($0.elements) } ?? [])).flatMap { entry in
            let links = entry["links"]?.elements.compactMap(\.string) ?? []
            return (entry["url"]?.string).map { [$0] + links } ?? links
        }
    }
}

/// A timeline as it is kept.
struct StoredTimeline: Sendable {
    let number: Int64
    let key: TimelineKey
    var timeline: Timeline
    /// By wall time: when the producer last said what it shows.
    var updatedAt: Instant
    /// By wall time: the newest moment for which the producer was asked.
    var askedThrough: Instant
    /// What entries before these linked to: a widget shows them until it has fetched. The newest
    /// first.
    var former: [FormerLinks] = []
    /// Of what families get of it.
    let cutHashes = CutHashes()

    /// Links of entries that are gone, and until when a tap on one counts.
    struct FormerLinks: Hashable, Sendable {
        /// As `Timeline.linkHashes`.
        let hashes: [Int64]
        /// By wall time.
        let until: Instant
    }

    /// As many links as a timeline may have, and as many again.
    static let formerMax = 2 * Timeline.entriesMax * (Timeline.linksMax + 1)

    func isAhead(of wall: Instant) -> Bool { max(updatedAt, askedThrough) > wall }

    /// The clock was ahead then, and has been set right.
    mutating func followClock(backTo wall: Instant) {
        (updatedAt, askedThrough) = (min(updatedAt, wall), min(askedThrough, wall))
    }

    /// What it counts against its tenant's room.
    var bytes: Int { timeline.bytes + former.reduce(0) { $0 + $1.hashes.count * 8 } }

    /// Whether a tap leads there, on an entry of now or of the last 24 hours.
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

    /// What a timeline that takes this one's place remembers of it.
    func formerLinks(at wall: Instant) -> [FormerLinks] {
        var room = Self.formerMax
        let own = FormerLinks(hashes: timeline.linkHashes, until: wall + .hours(24))
        return ([own] + former).prefix { links in
            room -= links.hashes.count
            return room >= 0 && links.until > wall && !links.hashes.isEmpty
        }
    }

    /// What a producer is asked for fresh content at.
    struct Due: Hashable, Sendable {
        enum Cause: String, Hashable, Sendable {
            /// A boundary of the schedule is over.
            case boundary
            /// The last entry is about to show.
            case atEnd = "at_end"
            /// The date of policy `after`.
            case after
        }

        /// By wall time.
        var at: Instant
        var cause: Cause
    }

    /// Before the last entry of policy `atEnd` a producer is asked so long ahead.
    static let aheadOfEnd = Span.minutes(10)

    /// The first moment after `askedThrough` at which the producer is to be asked; nil: none.
    ///
    /// - Parameter zones: of the devices that show it, where the schedule goes by them.
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
            // Of entries that were over when they came nobody has to be asked again.
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

    /// Nil where the bytes are no timeline: the caller reports and sets aside.
    ///
    /// - Parameter hash: of a link, as `Timeline.linkHashes` has it.
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
