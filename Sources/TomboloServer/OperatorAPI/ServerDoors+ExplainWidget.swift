import TomboloAPI
import TomboloCore
import TomboloEventLog
import TomboloJSON
import TomboloRelay

// "Why does this widget show what it shows?"

extension ServerDoors {
    func explainWidget(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let kind = try request.identifier("kind")
        guard let device = try request.identifier(inQuery: "device") else {
            throw Problem(.invalidQuery, "The query names no device. Give device=.")
        }
        let config = try request.identifier(inQuery: "config")
        let key = DeviceKey(tenant: request.tenant, id: device)
        let app = request.target["app"]
        guard let state = await relay.widgetState(kind, app: app, config: config, of: key) else {
            throw Problem.unknownDevice(device)
        }
        await relay.settleFacts()
        return try await page(for: request) { () async throws(Problem) in
            let found = await relay.entries(
                kind, app: app, config.map(TimelineSubject.key), family: nil,
                by: .device(device, boundTo: nil), of: request.tenant)
            // What it may not read is not there for it.
            var entries: TimelineEntries?
            switch found {
            case .success(let one): entries = one.entries.isEmpty ? nil : one.entries
            case .failure(let refusal) where refusal.code == .unknownTimeline: break
            case .failure: _ = try Self.found(found)
            }
            var evidence = WidgetExplanation.Evidence(
                kind: kind, device: device, config: config, entries: entries,
                now: await relay.wallNow(), reload: state.reload)
            evidence.fetches = zip(state.fetches, state.versions).map { one, version in
                let result: WidgetExplanation.Fetch.Result =
                    switch one.fetch.answer {
                    case .refused(let code): .refused(code, isStill: version == nil)
                    case .unchanged(let known) where known == version: .unchanged
                    case .entries(let known) where known == version: .newest
                    case .unchanged, .entries: .before
                    }
                return WidgetExplanation.Fetch(
                    family: one.family, at: one.fetch.at, result: result)
            }
            evidence.last = try await newestReload(of: key)
            return .json { WidgetExplanation(evidence).write(to: &$0) }
        }
    }

    private func newestReload(
        of device: DeviceKey
    ) async throws(Problem) -> WidgetExplanation.Outcome? {
        var query = FactQuery(tenant: device.tenant)
        (query.order, query.limit) = (.newestFirst, 200)
        (query.kinds, query.recipient) = (["reload.sent", "reload.refused"], .device(device.id))
        // Controls of the device have theirs among them.
        for _ in 0..<Self.reloadPagesMax {
            let page: FactPage
            do { page = try await relay.facts(query) } catch { throw Problem(error) }
            for fact in page.facts.map(\.fact) {
                // The relay wrote it.
                guard let view = (try? JSONDocument(fact.body))?.root,
                    view["surface"]?.string == TokenName.widget.text
                else { continue }
                return WidgetExplanation.Outcome(
                    at: fact.recordedAt,
                    refusal: fact.kind == "reload.sent" ? nil : view["reason"]?.string ?? "")
            }
            guard let next = page.next else { break }
            query.goOn(at: next)
        }
        return nil
    }

    /// Pages of facts that are looked at for a widget's reload.
    private static let reloadPagesMax = 10
}
