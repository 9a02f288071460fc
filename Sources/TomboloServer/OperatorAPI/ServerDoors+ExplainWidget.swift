import TomboloAPI
import TomboloCore
import TomboloEventLog
import TomboloJSON
import TomboloRelay

// Answers "Why does this widget show this?" for one widget, and for all widgets and controls that
// show an activity on a device.

extension ServerDoors {
    func explainWidget(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let kind = try request.identifier("kind")
        guard let device = try request.identifier(inQuery: "device") else {
            throw Problem(.invalidQuery, "The query names no device. Give device=.")
        }
        let config = try request.configuration()
        let key = DeviceKey(tenant: request.tenant, id: device)
        let widget = ActivitySurfaces.Widget(kind: kind, config: config)
        let app = request.target["app"]
        await relay.settleFacts()
        return try await page(for: request) { () async throws(Problem) in
            var evidence = try await evidence(of: widget, app: app, on: key)
            evidence.last = try await newestReload(.widget, of: key)
            return .json { WidgetExplanation(evidence).write(to: &$0) }
        }
    }

    private func evidence(
        of widget: ActivitySurfaces.Widget, app: String?, on device: DeviceKey
    ) async throws(Problem) -> WidgetExplanation.Evidence {
        guard let reload = await relay.reload(.widget, of: device) else {
            throw Problem.unknownDevice(device.id)
        }
        let found = await entries(of: widget, app: app, family: nil, on: device)
        // A timeline that the device may not read is treated as missing.
        var entries: TimelineEntries?
        switch found {
        case .success(let one): entries = one.entries.isEmpty ? nil : one.entries
        case .failure(let refusal) where refusal.code == .unknownTimeline: break
        case .failure: _ = try Self.found(found)
        }
        var evidence = WidgetExplanation.Evidence(
            kind: widget.kind, device: device.id, config: widget.config, entries: entries,
            now: await relay.wallNow(), reload: reload)
        let user = await relay.device(device)?.registration.user
        for (family, fetch) in await relay.fetches(of: widget, on: device, owner: reload.owner) {
            // What the reader of that fetch would get at that time from the present entries.
            let due = await self.entries(
                of: widget, app: app, family: family, on: device, boundTo: fetch.boundTo,
                at: fetch.now)
            // Nil if the reader may not read the timeline now.
            let version = try? due.get().entries.version
            let result: WidgetExplanation.Fetch.Result =
                switch fetch.answer {
                // This refusal holds until the device changes its user, so it still holds.
                case .refused(let code) where code == ProblemCode.keyOfFormerUser.rawValue:
                    .refused(code, isStill: true)
                case .refused(let code) where code == ProblemCode.keyNotSignedIn.rawValue:
                    .refused(code, isStill: !isSameText(fetch.boundTo, user))
                case .refused(let code):
                    .refused(Self.code(of: due) ?? code, isStill: version == nil)
                case .unchanged(let known) where known == version: .unchanged
                case .entries(let known) where known == version: .newest
                case .unchanged, .entries: .before
                }
            evidence.fetches.append(
                WidgetExplanation.Fetch(
                    family: family, at: fetch.at, result: result,
                    isOfOther: fetch.boundTo != nil && !isSameText(fetch.boundTo, user)))
        }
        return evidence
    }

    /// The error code with which a fetch is refused; nil if it is not refused.
    private static func code(
        of found: Result<(entries: TimelineEntries, now: Instant), Refusal>
    ) -> String? {
        guard case .failure(let refusal) = found else { return nil }
        return refusal.code.rawValue
    }

    /// - Parameter bound: the user to which the key of the widget is bound; nil: none.
    private func entries(
        of widget: ActivitySurfaces.Widget, app: String?, family: WidgetFamily?,
        on device: DeviceKey, boundTo bound: String? = nil, at moment: Instant? = nil
    ) async -> Result<(entries: TimelineEntries, now: Instant), Refusal> {
        let reader = TimelineReader.device(device.id, boundTo: bound)
        guard widget.config.count <= 1 else {
            return await together(
                widget.config, widget.kind, app: app, family, by: reader, of: device.tenant,
                at: moment)
        }
        return await relay.entries(
            widget.kind, app: app, widget.config.first.map(TimelineSubject.key), family: family,
            by: reader, of: device.tenant, at: moment)
    }

    /// The widgets that show the activity on a device, and the controls that its type reloads.
    func surfaces(
        of activity: ActivityView, on device: DeviceKey
    ) async throws(Problem) -> [Explanation.Surface] {
        guard let known = await relay.surfaces(of: activity.key, on: device) else { return [] }
        let change = WidgetExplanation.Change(
            activity: activity.key.id, version: activity.version, at: known.changedAt)
        var found: [Explanation.Surface] = []
        let last = known.widgets.isEmpty ? nil : try await newestReload(.widget, of: device)
        for widget in known.widgets {
            var evidence = try await evidence(of: widget, app: known.app, on: device)
            (evidence.change, evidence.last) = (change, last)
            found.append(WidgetExplanation(evidence).surface)
        }
        var names = known.controls.map { TokenName.control(kind: $0) }
        if known.reloadsWidgets, known.widgets.isEmpty { names.insert(.widget, at: 0) }
        for name in names.prefix(ActivitySurfaces.countMax) {
            guard let reload = await relay.reload(name, of: device) else { continue }
            let last = try await newestReload(name, of: device)
            var isSame: Bool?
            if let last, last.refusal == nil, last.at < known.changedAt, known.visibility != nil {
                // If the events were deleted or erased, the past state is unknown.
                let past = try? await fold(upTo: .instant(last.at), of: activity, device.tenant)
                isSame = (past?.0.projection?.state).flatMap { known.isSame(as: $0) }
            }
            found.append(
                ReloadExplanation(
                    name, reload: reload, last: last, change: change, isSame: isSame
                ).surface)
        }
        return found
    }

    private func newestReload(
        _ name: TokenName, of device: DeviceKey
    ) async throws(Problem) -> WidgetExplanation.Outcome? {
        var query = FactQuery(tenant: device.tenant)
        (query.order, query.limit) = (.newestFirst, 200)
        (query.kinds, query.recipient) = (["reload.sent", "reload.refused"], .device(device.id))
        var found: WidgetExplanation.Outcome?
        // The facts of the device's other surfaces are read too, so look at several pages.
        try await readPages(of: query) { page in
            for fact in page.map(\.fact) where found == nil {
                // The relay wrote the body, so it is JSON.
                guard let view = (try? JSONDocument(fact.body))?.root,
                    view["surface"]?.string == name.text
                else { continue }
                found = WidgetExplanation.Outcome(
                    at: fact.recordedAt,
                    refusal: fact.kind == "reload.sent" ? nil : view["reason"]?.string ?? "")
            }
            return found == nil
        }
        return found
    }
}
