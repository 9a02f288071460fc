import TomboloAPI
import TomboloCore
import TomboloCrypto
import TomboloHTTP
import TomboloJSON
import TomboloRelay

// Timelines: a producer puts them, and a widget's `TimelineProvider` fetches their entries.

extension ServerDoors {
    func putTimeline(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let kind = try request.identifier("kind")
        let asked = try await read(
            request, atMost: Timeline.bytesMax, TimelineRequest.init(reading:))
        let (command, tenant) = (TimelineCommand.put(asked, kind: kind), request.tenant)
        let isDryRun = try request.isDryRun
        let stored =
            isDryRun
            ? try await tried { (core, _) throws(Refusal) in
                try core.dryRunTimeline(command, of: tenant)
            }
            : try Self.stored(await relay.submitTimelineCommand(command, of: tenant), "a timeline")
        let answer = TimelineAnswer(
            kind: kind, subject: asked.subject, stored: stored, isDryRun: isDryRun)
        return .json(answer.httpStatus) { answer.write(to: &$0) }
    }

    func showTimeline(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let kind = try request.identifier("kind")
        let subject = try request.namedSubject()
        return try await page(for: request, bytes: Timeline.bytesMax) {
            () async throws(Problem) in
            let (app, tenant) = (request.target["app"], request.tenant)
            let view = try await tried { (core, _) throws(Refusal) in
                try core.timeline(kind, app: app, subject, of: tenant)
            }
            return .json { view.write(to: &$0) }
        }
    }

    func deleteTimeline(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let kind = try request.identifier("kind")
        let command = TimelineCommand.delete(
            kind: kind, app: request.target["app"], try request.namedSubject())
        let (isDryRun, tenant) = (try request.isDryRun, request.tenant)
        if isDryRun {
            _ = try await tried { (core, _) throws(Refusal) in
                try core.dryRunTimeline(command, of: tenant)
            }
        } else {
            _ = try Self.stored(
                await relay.submitTimelineCommand(command, of: tenant), "a timeline")
        }
        return .gone("kind", kind.rawValue, isDryRun: isDryRun)
    }

    func listTimelines(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let after = try request.cursor(parts: 4)
        let kind = try request.identifier(inQuery: "kind")
        let limit = try request.limit()
        // A page ends after the timeline that exceeds the byte limit.
        return try await page(for: request, bytes: IDPage.bytesMax + Timeline.bytesMax) {
            () async throws(Problem) in
            let page = await relay.timelines(
                of: request.tenant, kind: kind, after: after, limit: limit)
            return .json {
                ListPage("timelines", page.views, next: page.next.map(TimelineView.cursor))
                    .write(to: &$0)
            }
        }
    }

    /// The entries, the first entry alone, or the placeholder.
    func timelineEntries(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let kind = try request.identifier("kind")
        let family = try request.widgetFamily()
        let configs = try request.configurations()
        let subject = configs.count > 1 ? nil : try request.subject()
        let reader = try request.timelineReader()
        if request.route.operation == .timelinePlaceholder {
            // The placeholder needs no data, so it is answered at once.
            return try await answer(.placeholder, until: nil, request)
        }
        return try await page(for: request) { () async throws(Problem) in
            let (app, tenant) = (request.target["app"], request.tenant)
            let found =
                configs.count > 1
                ? await together(configs, kind, app: app, family, by: reader, of: tenant)
                : await relay.entries(
                    kind, app: app, subject, family: family, by: reader, of: tenant)
            if case .failure(let refusal) = found {
                await noteFetch(.refused(refusal.code.rawValue), kind, family, request, reader)
            }
            var (entries, now) = try Self.found(found)
            let until = entries.nextBoundary(after: now).map { $0 - now }
            if request.route.operation == .timelineSnapshot, configs.count <= 1 {
                if subject == nil, entries.isEmpty {
                    entries = try await firstChoice(kind, family, request, reader) ?? entries
                }
                entries = entries.snapshot
            }
            let response = try await answer(entries, until: until, request)
            await noteFetch(.got(entries.version, response), kind, family, request, reader)
            return response
        }
    }

    /// The entries of a widget with several configuration ids. A timeline that is missing or that
    /// the reader may not read leaves an empty place.
    ///
    /// - Parameter moment: by the relay's monotonic clock; nil: now.
    func together(
        _ configs: [Identifier], _ kind: Identifier, app: String?, _ family: WidgetFamily?,
        by reader: TimelineReader, of tenant: TenantID, at moment: Instant? = nil
    ) async -> Result<(entries: TimelineEntries, now: Instant), Refusal> {
        var all: [TimelineEntries?] = []
        var now = await relay.wallNow()
        for (place, config) in configs.enumerated() {
            // Cutting one may take a mebibyte of work.
            if place > 0 { await relay.letOthersGo() }
            let found = await relay.entries(
                kind, app: app, .key(config), family: family, by: reader, of: tenant, at: moment)
            switch found {
            case .success(let one):
                all.append(one.entries)
                now = one.now
            case .failure(let refusal) where refusal.code == .unknownTimeline: all.append(nil)
            case .failure: return found
            }
        }
        return .success((TimelineEntries.together(all, at: now), now))
    }

    /// Notes a widget's refused fetch: after a sign-out its key may not ask for its device.
    func noteRefusedFetch(_ request: DoorRequest, _ problem: Problem) async {
        // A request that names no widget is not the fetch of one.
        let asked = try? (
            kind: request.identifier("kind"), family: request.widgetFamily(),
            reader: request.timelineReader()
        )
        guard let asked else { return }
        await noteFetch(
            .refused(problem.code.rawValue), asked.kind, asked.family, request, asked.reader)
    }

    /// Notes a widget's fetch for `why`. Reads by others are no fetches.
    private func noteFetch(
        _ answer: WidgetFetches.Fetch.Answer, _ kind: Identifier, _ family: WidgetFamily?,
        _ request: DoorRequest, _ reader: TimelineReader
    ) async {
        guard request.route.operation == .timelineEntries, request.head.method == "GET",
            case .device(let id, let bound) = reader
        else { return }
        let config = (request.target["config"] ?? request.target["key"] ?? "").split(separator: ",")
            .compactMap { Identifier(String($0)) }
        let key = WidgetFetches.Key(
            ActivitySurfaces.Widget(kind: kind, config: config), family: family)
        await relay.noteFetch(
            key, on: DeviceKey(tenant: request.tenant, id: id), boundTo: bound, answer)
    }

    /// The entries for a widget that is not configured yet: those of its first possible choice.
    private func firstChoice(
        _ kind: Identifier, _ family: WidgetFamily?, _ request: DoorRequest,
        _ reader: TimelineReader
    ) async throws(Problem) -> TimelineEntries? {
        try Self.found(
            await relay.choices(
                kind, app: request.target["app"], family: family, by: reader, of: request.tenant,
                atMost: 1)
        ).choices.first?.now
    }

    /// The answer with a validator. If the widget has this version already, no body is made.
    ///
    /// `no-cache`: an edit reloads the widget early, and it must not use its cached copy then.
    /// `max-age`: how long the copy may be shown if the relay cannot be reached.
    private func answer(
        _ entries: TimelineEntries, until: Span?, _ request: DoorRequest
    ) async throws(Problem) -> DoorResponse {
        let version = withUnsafeBytes(of: entries.version.bigEndian, Array.init)
        let tag = "\"\(Hex.encode(version))\""
        let age = until.map { ", max-age=\(max(0, Instant(nanoseconds: $0.nanoseconds).seconds))" }
        var fields: HTTPFields = ["etag": tag, "cache-control": "private, no-cache\(age ?? "")"]
        guard !request.head.fields.hasEntityTag(tag) else {
            return DoorResponse(status: 304, fields: fields, body: [])
        }
        try request.checkRoom(for: entries.bytesMax)
        var writer = JSONWriter(capacity: entries.bytesMax + 1)
        var text = TimelineEntriesText(entries)
        while text.writePiece(to: &writer) { await relay.letOthersGo() }
        fields.append("content-type", "application/json")
        return DoorResponse(status: 200, fields: fields, body: writer.takeLine())
    }

    func timelineChoices(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let kind = try request.identifier("kind")
        let family = try request.widgetFamily()
        let reader = try request.timelineReader()
        let after = try request.cursor(parts: 4)
        return try await page(for: request, bytes: IDPage.bytesMax + Timeline.bytesMax) {
            () async throws(Problem) in
            let page = try Self.found(
                await relay.choices(
                    kind, app: request.target["app"], family: family, by: reader,
                    of: request.tenant, after: after))
            return .json {
                TimelineChoices(page.choices, next: page.next.map(TimelineView.cursor))
                    .write(to: &$0)
            }
        }
    }
}

extension WidgetFetches.Fetch.Answer {
    /// The answer that the widget got: entries, or "not modified".
    fileprivate static func got(_ version: UInt64, _ response: DoorResponse) -> Self {
        response.status == 304 ? .unchanged(version: version) : .entries(version: version)
    }
}

extension HTTPFields {
    /// True if `If-None-Match` contains the tag, by weak comparison (RFC 9110, section 13.1.2).
    func hasEntityTag(_ tag: String) -> Bool {
        EntityTag.list(self["if-none-match"] ?? "").contains { $0 == "*" || $0 == tag }
    }
}

extension DoorRequest {
    /// The subject in the query: exactly one of user, device and key.
    fileprivate func namedSubject() throws(Problem) -> TimelineSubject {
        guard let subject = try subject() else {
            throw Problem(
                .invalidQuery, "The query names no subject. Give one of user=, device= or key=.")
        }
        return subject
    }

    /// The subject in the query; nil if there is none. A widget's configuration id is a key.
    fileprivate func subject() throws(Problem) -> TimelineSubject? {
        var subjects: [TimelineSubject] = []
        for (name, of) in [
            ("user", "user"), ("device", "device"), ("key", "key"), ("config", "key"),
        ] {
            guard let text = target[name] else { continue }
            guard let subject = TimelineSubject(name: of, text: text) else {
                throw Problem(.invalidQuery, "\(name)=\(text) names no \(of).")
            }
            subjects.append(subject)
        }
        guard subjects.count <= 1 else {
            throw Problem(
                .invalidQuery,
                "The query names several subjects. Give one of user=, device=, key= or config=.")
        }
        return subjects.first
    }

    /// The configuration ids of a widget, in its user's order, if there are several; else none.
    fileprivate func configurations() throws(Problem) -> [Identifier] {
        guard target["config"]?.contains(",") == true else { return [] }
        for name in ["user", "device", "key"] where target[name] != nil {
            throw Problem(
                .invalidQuery,
                "The query names several subjects. Give one of user=, device=, key= or config=.")
        }
        return try configuration()
    }

    /// The configuration ids of a widget, also a single one.
    func configuration() throws(Problem) -> [Identifier] {
        guard let text = target["config"] else { return [] }
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        let ids = parts.compactMap { Identifier(String($0)) }
        guard ids.count == parts.count, ids.count <= TimelineEntries.itemsMax else {
            throw Problem(
                .invalidQuery,
                "config=\(text) is no list of 1 to \(TimelineEntries.itemsMax) ids with commas "
                    + "between them.")
        }
        return ids
    }

    fileprivate func widgetFamily() throws(Problem) -> WidgetFamily? {
        guard let text = target["family"] else { return nil }
        if let family = WidgetFamily(rawValue: text) { return family }
        throw Self.unknown(text, of: "family", among: WidgetFamily.allCases.map(\.rawValue))
    }

    /// The reader's rights: an observer reads everything, a device only its own data.
    func timelineReader() throws(Problem) -> TimelineReader {
        guard let principal else { preconditionFailure("the route has a key") }
        let named = try identifier(inQuery: "device")
        if principal.scopes.contains(.operate) || principal.scopes.contains(.observe) {
            return .anybody
        }
        let own = principal.scopes.devices
        let bound = principal.binding.user
        if let named, own.contains(named) { return .device(named, boundTo: bound) }
        guard own.count == 1, let device = own.first else {
            throw Problem(
                .invalidQuery,
                "The key is for \(own.count) devices. Make a key for each, or name one with "
                    + "device=.")
        }
        return .device(device, boundTo: bound)
    }
}
