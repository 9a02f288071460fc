// What an operator looks at first, and lists of what is registered. Reads only.

extension Core {
    /// One look at all running activities of a tenant. Costs a look at every destination.
    package func overview(of tenant: TenantID) -> Overview {
        var overview = Overview()
        for slot in activities.indices where activities[lent: slot].key.tenant == tenant {
            guard activities[lent: slot].durable != nil,
                activities[lent: slot].durable?.ending == nil
            else { continue }
            if status(slot) == .waiting {
                overview.unreached += 1
                overview.unreachedExample = overview.unreachedExample ?? activities[slot].key.id
            }
            for index in activities[lent: slot].destinations { look(at: index, &overview) }
        }
        overview.damaged = damagedViews(of: tenant, type: nil, after: nil, limit: 1_000).count
        overview.sort()
        return overview
    }

    private func look(at index: Int, _ overview: inout Overview) {
        guard let destination = destinations[index], let device = devices[destination.device],
            let version = activities[lent: destination.activity].durable?.version,
            destination.incarnation == activities[lent: destination.activity].durableIncarnation
        else { return }
        let activity = activities[destination.activity].key.id
        if let trouble = trouble(of: destination, device) {
            overview.add(trouble, activity, device.key.id)
        }
        guard !destination.isFinished, destination.acknowledged < version else { return }
        overview.add(
            Overview.Behind(
                activity: activity, device: device.key.id,
                versions: version - destination.acknowledged,
                budgetClass: grantInForce(destination).budgetClass,
                waiting: destination.waiting.map(told)))
    }

    private func trouble(of destination: Destination, _ device: Device) -> Overview.Trouble? {
        let report = device.reports[reference(destination)]
        switch destination.phase {
        case .startUnknown: return .startUnknown
        case .lapsed: return .lapsed
        case .gone where report?.phase == .dismissed && report?.by != "system": return .dismissed
        case .ended, .gone, .listening: return nil
        case .waiting, .starting, .started, .live: break
        }
        if report?.missesPush == true { return .notShown }
        guard case .deferred(_, let hold) = destination.waiting else { return nil }
        switch hold {
        case .startToken, .updateToken, .stranded: return .noToken
        case .bucket, .deviceBucket, .startBudget: return .budgetSpent
        default: return nil
        }
    }

    /// A tenant's devices in the order of their ids.
    package func deviceViews(
        of tenant: TenantID, after: Identifier?, limit: Int, now: Instant
    ) -> (views: [DeviceView], next: Identifier?) {
        var ids: [Identifier] = []
        for (key, slot) in deviceByKey where key.tenant == tenant && devices[slot]?.channel == nil {
            if let after, key.id <= after { continue }
            ids.append(key.id)
        }
        ids.sort()
        let isMore = ids.count > limit
        let views = ids.prefix(limit).compactMap { id in
            view(DeviceKey(tenant: tenant, id: id), now: now)
        }
        return (views, isMore ? views.last?.id : nil)
    }

    /// A tenant's registered types, by name and then by app. There are at most `typesMax`.
    package func typeViews(of tenant: TenantID) -> [TypeView] {
        types.keys.filter { $0.tenant == tenant }
            .sorted { ($0.name, $0.app) < ($1.name, $1.app) }
            .compactMap { typeView($0.name, app: $0.app, tenant: tenant) }
    }
}
