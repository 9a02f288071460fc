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
        guard let state = await relay.widgetState(kind, config: config, of: key) else {
            throw Problem(.unknownDevice, "There is no device \"\(device)\".")
        }
        await relay.settleFacts()
        return try await page(for: request) { () async throws(Problem) in
            // What it may not read is not there for it.
            let found = await relay.entries(
                kind, app: request.target["app"], config.map(TimelineSubject.key), family: nil,
                by: .device(device, boundTo: nil), of: request.tenant)
            let entries = try? found.get().entries  // as above
            let isEmpty = entries?.isEmpty ?? true
            var evidence = WidgetExplanation.Evidence(
                kind: kind, device: device, config: config, entries: isEmpty ? nil : entries,
                now: await relay.wallNow(), reload: state.reload)
            evidence.fetches = state.fetches.map { family, fetch in
                let result: WidgetExplanation.Fetch.Result =
                    switch fetch.answer {
                    case .refused(let reason): .refused(reason)
                    case .unchanged(let source) where source == entries?.source: .unchanged
                    case .entries(let source) where source == entries?.source: .newest
                    case .unchanged, .entries: .before
                    }
                return WidgetExplanation.Fetch(family: family, at: fetch.at, result: result)
            }
            evidence.last = try await newestReload(of: key)
            return .json { WidgetExplanation(evidence).write(to: &$0) }
        }
    }

    private func newestReload(
        of device: DeviceKey
    ) async throws(Problem) -> WidgetExplanation.Outcome? {
        var query = FactQuery(tenant: device.tenant)
        (query.order, query.limit) = (.newestFirst, 50)
        (query.kinds, query.recipient) = (["reload.sent", "reload.refused"], .device(device.id))
        let facts: [NewFact]
        do {
            facts = try await relay.facts(query).facts.map(\.fact)
        } catch {
            throw Problem(error)
        }
        for fact in facts {
            // The relay wrote it.
            guard let view = (try? JSONDocument(fact.body))?.root,
                view["surface"]?.string == TokenName.widget.text
            else { continue }
            return WidgetExplanation.Outcome(
                at: fact.recordedAt,
                refusal: fact.kind == "reload.sent" ? nil : view["reason"]?.string ?? "")
        }
        return nil
    }
}
