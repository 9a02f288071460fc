import TomboloAPI
import TomboloCore
import TomboloEventLog
import TomboloJSON
import TomboloRelay

// The delivery history from the log.

extension ServerDoors {
    /// `GET` of an activity's deliveries: its destinations' ledgers, and a page of history.
    func listActivityDeliveries(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let key = try request.activityKey()
        let recipient = try request.recipient
        let page = try await deliveries(request, activity: key.id, recipient)
        let all = await relay.read { core, now in core.ledgers(of: key, now: now) ?? [] }
        let ledgers = all.filter { recipient == nil || $0.recipient == recipient }
        return .object { writer in
            writer.member("activity", key.id.rawValue)
            writer.array("destinations", of: ledgers) { $1.write(to: &$0) }
            page.write(membersTo: &writer)
        }
    }

    /// A page of deliveries of all activities, or of those that the query selects.
    func listDeliveries(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let activity = try request.identifier(inQuery: "activity")
        let recipient = try request.recipient
        let page = try await deliveries(request, activity: activity, recipient)
        if page.entries.isEmpty, page.next == nil, !request.isFiltered {
            try await check(recipient, request)
        }
        return .object { page.write(membersTo: &$0) }
    }

    /// One delivery, by the id that an answer or a list contains.
    func showDelivery(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let id = request.parameter("id")
        let entry = try await page(for: request) { () async throws(Problem) in
            try await self.delivery(id, of: request.tenant)
        }
        return .json { entry.write(to: &$0) }
    }

    func delivery(_ id: String, of tenant: TenantID) async throws(Problem) -> DeliveryEntry {
        await relay.settleFacts()
        var names = ActivityNames(tenant: tenant)
        let fact: RecordedFact?
        do {
            fact =
                switch DeliveryEntry.Place(id) {
                case .number(let number)?:
                    try await relay.fact(tenantSeq: number, tenant: tenant)
                case .push(let push)?: try await relay.deliveryFact(push, tenant: tenant)
                case nil: nil
                }
        } catch { throw Problem(error) }
        if let fact, let entry = await names.delivery(fact, relay) { return entry }
        throw Problem(
            .unknownDelivery,
            "The history has no delivery \"\(id)\". It may be older than the history that is kept, "
                + "or still on its way. GET /v1/deliveries lists those on record.")
    }

    /// Conditions on deliveries besides activity, device and time.
    private struct Filter: Sendable {
        var version: Int64?
        var result: String?
        var reason: String?
        var user: Set<Recipient>?

        var isEmpty: Bool { version == nil && result == nil && reason == nil && user == nil }

        func matches(_ entry: DeliveryEntry) -> Bool {
            if let version {
                let isOwn = entry.record.version == version
                guard
                    isOwn || entry.record.decided?.contains(version) == true
                        || entry.record.fate(of: version) != nil
                else { return false }
            }
            if let result, entry.result != result, entry.record.decision?.action != result {
                return false
            }
            if let reason, entry.reason != reason { return false }
            return user.map { $0.contains(entry.record.recipient) } ?? true
        }
    }

    func facts(_ query: FactQuery) async throws(Problem) -> FactPage {
        do { return try await relay.facts(query) } catch { throw Problem(error) }
    }

    /// Reads pages of facts until `goesOn` returns false, at most ten: a destination has about ten
    /// thousand deliveries in the eight hours of a card.
    func readPages(of query: FactQuery, _ goesOn: ([RecordedFact]) -> Bool) async throws(Problem) {
        var query = query
        for _ in 0..<10 {
            let page = try await facts(query)
            guard goesOn(page.facts), let next = page.next else { return }
            query.goOn(at: next)
        }
    }

    /// A page of the delivery history, newest first. Facts that are not written yet are waited for.
    private func deliveries(
        _ request: DoorRequest, activity: Identifier?, _ recipient: Recipient?
    ) async throws(Problem) -> DeliveryPage {
        let limit = try request.limit()
        var query = FactQuery(tenant: request.tenant)
        (query.order, query.kinds) = (.newestFirst, DeliveryRecord.kinds)
        query.recipient = recipient
        query.before = try request.integer("cursor", in: 1...Int64.max)
        (query.from, query.until) = (try request.instant("from"), try request.instant("until"))
        let filter = try await filter(request)
        await relay.settleFacts()
        return try await page(for: request, bytes: IDPage.bytesMax) {
            [query] () async throws(Problem) in
            var asked = query
            if let activity {
                // Keep only the number: a view of a thousand destinations must not stay in memory
                // while reading.
                let key = ActivityKey(tenant: request.tenant, id: activity)
                asked.activity = try await known(key).number
            }
            var found = try await self.read(asked, filter, limit: limit)
            found.leftOut = try await self.leftOut(of: found, asked)
            return found
        }
    }

    /// The number of deliveries that the relay did not keep, within the time of this page.
    private func leftOut(of page: DeliveryPage, _ asked: FactQuery) async throws(Problem) -> Int64 {
        var query = FactQuery(tenant: asked.tenant)
        (query.kinds, query.limit) = ([NewFact.thinned], 1_000)
        query.from = page.next == nil ? asked.from : page.entries.last?.at ?? asked.from
        query.until = asked.before == nil ? asked.until : page.entries.first?.at ?? asked.until
        var thinned = try await facts(query).facts.map(\.fact)
        if query.until == nil {
            thinned += await relay.read { core, now in
                core.comingThinning(of: asked.tenant, now: now).map { [$0] } ?? []
            }
        }
        return thinned.reduce(0) { $0 + $1.leftOut(of: DeliveryRecord.kinds) }
    }

    private func filter(_ request: DoorRequest) async throws(Problem) -> Filter {
        var filter = Filter()
        filter.version = try request.integer("version", in: 1...Int64.max)
        filter.reason = request.target["reason"]
        filter.result = try request.word("result", among: Self.results)
        if let user = request.target["user"] {
            let devices = await relay.devices(ofUser: user, tenant: request.tenant)
            filter.user = Set(devices.map(Recipient.device))
        }
        return filter
    }

    private static let results = [
        "accepted", "rejected", "not_sent", "unknown", "sent", "merged", "skipped", "expired",
        "refused",
    ]

    /// Maximum number of rows that are scanned for one page.
    private static let scanMax = 100_000

    private func read(
        _ asked: FactQuery, _ filter: Filter, limit: Int
    ) async throws(Problem) -> DeliveryPage {
        var query = asked
        var names = ActivityNames(tenant: asked.tenant)
        var found = DeliveryPage(entries: [], next: nil)
        query.limit = filter.isEmpty ? limit : 1_000
        var looked = 0
        repeat {
            let page = try await facts(query)
            for fact in page.facts {
                guard let entry = await names.delivery(fact, relay), filter.matches(entry) else {
                    continue
                }
                found.entries.append(entry)
                if found.entries.count == limit {
                    let isLast = page.next == nil && fact.tenantSeq == page.facts.last?.tenantSeq
                    found.next = isLast ? nil : fact.tenantSeq
                    return found
                }
            }
            looked += max(1, page.facts.count)
            found.next = page.next
            if let next = page.next { query.goOn(at: next) }
        } while found.next != nil && looked < Self.scanMax && !filter.isEmpty
        return found
    }

    /// For an empty list: throws if the activity or the device does not exist. Otherwise a misspelt
    /// name would look like an empty history.
    func checkNames(
        _ request: DoorRequest, _ activity: Identifier?, _ device: Identifier?
    ) async throws(Problem) {
        if let activity {
            _ = try await known(ActivityKey(tenant: request.tenant, id: activity))
        }
        if let device { _ = try await known(DeviceKey(tenant: request.tenant, id: device)) }
    }

    private func check(_ recipient: Recipient?, _ request: DoorRequest) async throws(Problem) {
        switch recipient {
        case .device(let device): try await checkNames(request, nil, device)
        case .channel(let name):
            _ = try await known(ChannelKey(tenant: request.tenant, name: name))
        case nil: break
        }
    }

    /// `GET /v1/budgets`: the granted budgets, and how much of each is left.
    func listBudgets(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let limit = try request.limit()
        let activity = try request.identifier(inQuery: "activity")
        let device = try request.identifier(inQuery: "device")
        let (cursor, tenant) = (request.target["cursor"], request.tenant)
        let after = cursor.flatMap(BudgetPlace.init)
        if let cursor, after == nil {
            throw Problem(
                .invalidQuery,
                "cursor=\(cursor) must be what a page of this listing gave as next_cursor.")
        }
        return try await page(for: request, bytes: IDPage.bytesMax) { () async throws(Problem) in
            let budgets = await relay.budgets(
                of: request.tenant, activity: activity, device: device, after: after,
                limit: limit + 1)
            // Budgets of surfaces belong to devices, not to activities. The first page has them.
            let surfaces =
                activity == nil && after == nil
                ? await relay.read { core, now in
                    core.surfaceBudgets(of: tenant, device: device, limit: limit, now: now)
                } : []
            if budgets.destinations.isEmpty, surfaces.isEmpty {
                try await checkNames(request, activity, device)
            }
            let page = BudgetPage(
                classes: budgets.classes, destinations: Array(budgets.destinations.prefix(limit)),
                surfaces: surfaces, isMore: budgets.destinations.count > limit)
            return .json { page.write(to: &$0) }
        }
    }
}

extension DoorRequest {
    /// The device or channel in the query; nil: all recipients.
    var recipient: Recipient? {
        get throws(Problem) {
            let channel = try identifier(inQuery: "channel")
            guard let device = try identifier(inQuery: "device") else {
                return channel.map(Recipient.channel)
            }
            guard channel == nil else {
                throw Problem(.invalidQuery, "Give device or channel, not both.")
            }
            return .device(device)
        }
    }

    /// True if a filter may be the reason for an empty page. Then names are not checked.
    fileprivate var isFiltered: Bool {
        ["version", "result", "reason", "from", "until", "cursor"].contains { target[$0] != nil }
    }
}
