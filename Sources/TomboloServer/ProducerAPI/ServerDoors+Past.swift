import TomboloAPI
import TomboloCore
import TomboloEventLog
import TomboloJSON
import TomboloRelay

extension ServerDoors {
    /// Events of an activity that are read at once: as many as there are between two snapshots.
    private static let pastPage = 256
    /// Events that are folded in one turn: each may move a history of 256 lines.
    private static let pastPiece = 32

    /// The moment in `?at=` or `?at_seq=`; nil for now.
    func pastMoment(_ request: DoorRequest) throws(Problem) -> LogMoment? {
        let seq = try request.integer("at_seq", in: 0...Int64.max)
        guard let instant = try request.instant("at") else { return seq.map(LogMoment.tenantSeq) }
        guard seq == nil else {
            throw Problem(.invalidQuery, "Give at or at_seq, not both.")
        }
        return .instant(instant)
    }

    /// The event that made a version.
    func event(
        of version: Int64, _ view: ActivityView, _ tenant: TenantID
    ) async throws(Problem) -> RecordedEvent {
        guard version <= view.version else {
            throw Problem(
                .invalidQuery,
                "Version \(version) of \"\(view.key.id)\" is not there yet: the activity is at "
                    + "version \(view.version)."
            ).adding("newest", view.version)
        }
        var query = EventQuery(tenant: tenant)
        (query.activity, query.newest, query.limit) = (view.number, view.seq, 1_000)
        if version == view.version { query.after = view.tenantSeq - 1 }
        while true {
            let page = try await events(query)
            if let event = page.events.first(where: { $0.version == version }) { return event }
            guard let next = page.next else { break }
            query.after = next
        }
        throw Problem(
            .unknownEvent,
            "The log has no version \(version) of \"\(view.key.id)\" any more: history of then was "
                + "cut.")
    }

    /// Folds the activity's events from the newest snapshot before the moment up to the moment.
    func fold(
        upTo moment: LogMoment, of view: ActivityView, _ tenant: TenantID
    ) async throws(Problem) -> (ActivityFold, RecordedEvent?) {
        var past = PastFold(moment)
        var query = EventQuery(tenant: tenant)
        (query.activity, query.newest) = (view.number, view.seq)
        query.limit = Self.pastPage
        do {
            if let known = try await relay.snapshot(
                of: view.number, tenant: tenant, at: moment, newest: view.seq),
                let begun = ActivityFold(known.value, version: known.version, seq: known.seq)
            {
                query.after = known.tenantSeq
                past.begin(begun, after: try await relay.event(seq: known.seq, tenant: tenant))
            }
        } catch {
            throw Problem(error)
        }
        while true {
            let page = try await events(query)
            if !page.damaged.isEmpty { past.hasDamage = true }
            for (place, event) in page.events.enumerated() {
                if place > 0, place.isMultiple(of: Self.pastPiece) { await relay.letOthersGo() }
                guard try past.follow(event) else { return (past.fold, past.last) }
            }
            guard let next = page.next else {
                try past.finish(newest: view.version)
                return (past.fold, past.last)
            }
            query.after = next
        }
    }

    /// Shows the activity at a past moment, rebuilt from its events.
    func showPast(
        _ moment: LogMoment, of view: ActivityView, _ request: DoorRequest
    ) async throws(Problem) -> DoorResponse {
        let past = try await page(for: request) { () async throws(Problem) in
            try await self.fold(upTo: moment, of: view, request.tenant)
        }
        let (fold, last) = past
        guard let last else {
            throw Problem(
                .unknownActivity,
                "The activity \"\(view.key.id)\" was not there yet, or its "
                    + "history of then was cut.")
        }
        guard let projection = fold.projection, !fold.isErased else {
            throw Problem(
                .unknownActivity, "What the activity \"\(view.key.id)\" showed then was erased.")
        }
        let then = view.past(projection, fold, last, moment)
        await relay.settleFacts()
        let destinations = try await page(for: request) { () async throws(Problem) in
            try await self.destinations(of: then, request.tenant)
        }
        return Self.validated(last.version, request) { writer in
            writer.object { then.write(membersTo: &$0, destinations: destinations) }
        }
    }

    /// The state of each destination at the moment of `view`, by the delivery history.
    private func destinations(
        of view: ActivityView, _ tenant: TenantID
    ) async throws(Problem) -> [PastDestination] {
        var query = FactQuery(tenant: tenant)
        (query.order, query.kinds, query.limit) = (.newestFirst, DeliveryRecord.kinds, 1_000)
        (query.activity, query.until) = (view.number, view.asOf)
        var found: [Recipient: PastDestination] = [:]
        try await readPages(of: query) { page in
            for entry in page.compactMap({ DeliveryEntry($0, activity: view.key.id) }) {
                let recipient = entry.record.recipient
                found[recipient, default: PastDestination(recipient)].take(entry)
            }
            return true
        }
        return found.values.sorted { $0.recipient < $1.recipient }
    }
}

extension ActivityView {
    /// The activity at the moment of `projection`; its recipients of that time are not known.
    fileprivate func past(
        _ projection: Projection, _ fold: ActivityFold, _ last: RecordedEvent, _ moment: LogMoment
    ) -> ActivityView {
        var past = self
        past.type = fold.type
        past.incarnation = fold.incarnation
        past.version = last.version
        past.seq = last.seq
        past.tenantSeq = last.tenantSeq
        past.status = projection.ending == nil ? .active : .ended
        past.relevance = projection.relevance
        past.staleAt = nil
        past.destinations = []
        let instant: Instant
        switch moment {
        case .instant(let asked): instant = asked
        case .tenantSeq: instant = last.event.recordedAt
        }
        past.state = projection.state(at: instant)
        past.clip = projection.clip.map { ClipView($0, at: instant) }
        past.asOf = instant
        return past
    }
}
