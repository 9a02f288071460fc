import TomboloAPI
import TomboloCore
import TomboloEventLog
import TomboloJSON
import TomboloRelay

// Answers "Why did this phone not show that version?" from the log.

extension ServerDoors {
    /// What a request asks about; `version` or `moment` may be given, not both.
    private struct Question: Sendable {
        var activity: ActivityView
        /// nil: all recipients of the activity.
        var recipient: Recipient?
        /// nil: the recipient's present card.
        var card: Int64?
        var version: Int64?
        var moment: Instant?
        var tenant: TenantID
    }

    func explainActivity(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let key = try request.activityKey()
        let version = try request.integer("version", in: 1...Int64.max)
        let moment = try request.instant("at")
        let recipient = try request.recipient
        guard version == nil || moment == nil else {
            throw Problem(.invalidQuery, "Give version or at, not both.")
        }
        if let moment { try await refuse(ahead: .instant(moment), request.tenant) }
        let view = try await known(key)
        if let version, version > view.version {
            throw Problem(
                .invalidQuery,
                "version=\(version) is not there yet: the activity is at version \(view.version)."
            ).adding("newest", view.version)
        }
        await relay.settleFacts()
        let asked = Question(
            activity: view, recipient: recipient, version: version, moment: moment,
            tenant: request.tenant)
        let explanation = try await page(for: request) { () async throws(Problem) in
            var question = asked
            if case .device(let name) = recipient {
                question.recipient = try await self.recipient(called: name, of: asked)
            }
            return try await self.explainQuestion(question)
        }
        return .json { explanation.write(to: &$0) }
    }

    /// Throws if the moment is not there yet. For a time one minute is allowed: a client's clock
    /// may be ahead.
    func refuse(ahead moment: LogMoment, _ tenant: TenantID) async throws(Problem) {
        switch moment {
        case .instant(let instant):
            let now = await relay.wallNow()
            guard instant > now + .minutes(1) else { return }
            throw Problem(
                .invalidQuery,
                "at=\(instant.rfc3339) is yet to come: the relay's clock is at \(now.rfc3339)."
            ).adding("newest", now.rfc3339)
        case .tenantSeq(let seq):
            let newest = await relay.place(of: tenant).command
            guard seq > newest else { return }
            throw Problem(
                .invalidQuery,
                "at_seq=\(seq) is not there yet: the log's newest command is \(newest)."
            ).adding("newest", newest)
        }
    }

    /// `POST`: explains what happened to a push, given its token, its `apns-id` or its user.
    func explain(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let asked = try await read(request, ExplainRequest.init)
        await relay.settleFacts()
        let tenant = request.tenant
        let found = try await page(for: request) { () async throws(Problem) in
            try await self.explanations(asked, tenant)
        }
        return .object { $0.array("explanations", of: found) { $1.write(to: &$0) } }
    }

    /// Maximum number of a user's devices in one answer.
    private static let devicesMax = 20

    private func explanations(
        _ asked: ExplainRequest, _ tenant: TenantID
    ) async throws(Problem) -> [Explanation] {
        switch asked {
        case .push(let push):
            let entry = try await delivery(push.deliveryID, of: tenant)
            return try await [explainDelivery(entry, tenant)]
        case .token(let token):
            guard let device = await relay.device(holding: token, tenant: tenant) else {
                throw Problem(
                    .unknownDevice,
                    "No device has this token, or had it when Apple called it dead. Ask for the "
                        + "user or the device instead: tombolo device ls.")
            }
            return try await newest(of: [device], tenant)
        case .user(let user):
            let devices = await relay.devices(ofUser: user, tenant: tenant)
            guard !devices.isEmpty else {
                throw Problem(.unknownDevice, "No device is registered for the user \"\(user)\".")
            }
            return try await newest(of: Array(devices.prefix(Self.devicesMax)), tenant)
        }
    }

    /// Explains the newest delivery of each device. If a device has none, explains the change that
    /// waits for it.
    private func newest(
        of devices: [Identifier], _ tenant: TenantID
    ) async throws(Problem) -> [Explanation] {
        var found: [Explanation] = []
        for device in devices {
            var query = FactQuery(tenant: tenant)
            (query.order, query.limit) = (.newestFirst, 1)
            (query.kinds, query.recipient) = (DeliveryRecord.kinds, .device(device))
            if let entry = try await entries(query).first {
                found.append(try await explainDelivery(entry, tenant))
            } else if let waiting = await waiting(for: device, tenant) {
                found.append(try await explainQuestion(waiting))
            }
        }
        return found
    }

    private func waiting(for device: Identifier, _ tenant: TenantID) async -> Question? {
        let phone = DeviceKey(tenant: tenant, id: device)
        guard let key = await relay.read({ core, _ in core.newestActivity(on: phone) }),
            let view = await relay.activity(key)
        else { return nil }
        return Question(activity: view, recipient: .device(device), tenant: tenant)
    }

    private func explainDelivery(
        _ entry: DeliveryEntry, _ tenant: TenantID
    ) async throws(Problem) -> Explanation {
        guard let id = entry.activity,
            let view = await relay.activity(ActivityKey(tenant: tenant, id: id))
        else {
            throw Problem(.unknownActivity, "The activity of this delivery is not known any more.")
        }
        return try await explainQuestion(
            Question(
                activity: view, recipient: entry.record.recipient, card: entry.record.card,
                version: entry.record.version, tenant: tenant))
    }

    // MARK: Gathering

    private func explainQuestion(_ question: Question) async throws(Problem) -> Explanation {
        let asked = try await asked(question)
        if let recipient = question.recipient {
            return try await explainCard(question, asked, at: recipient)
        }
        let recipients = try await recipients(of: question)
        if let only = recipients.first, recipients.count == 1 {
            return try await explainCard(question, asked, at: only)
        }
        var all: [Explanation] = []
        for recipient in recipients.prefix(Self.devicesMax) {
            all.append(Explainer(try await evidence(question, asked, recipient)).explanation)
        }
        return Explanation(
            of: all, activity: question.activity.key.id, version: asked.version,
            left: max(0, recipients.count - Self.devicesMax))
    }

    private func explainCard(
        _ question: Question, _ asked: Evidence.Asked, at recipient: Recipient
    ) async throws(Problem) -> Explanation {
        var found = Explainer(try await evidence(question, asked, recipient)).explanation
        // Only the present state of widgets and controls is known, not their past.
        guard case .device(let device) = recipient, question.moment == nil,
            asked.version == question.activity.version
        else { return found }
        found.surfaces = try await surfaces(
            of: question.activity, on: DeviceKey(tenant: question.tenant, id: device))
        return found
    }

    /// The devices and channels that are or recently were destinations of the activity.
    private func recipients(of question: Question) async throws(Problem) -> [Recipient] {
        var query = FactQuery(tenant: question.tenant)
        (query.order, query.limit) = (.newestFirst, 200)
        (query.kinds, query.activity) = (DeliveryRecord.kinds, question.activity.number)
        let known =
            question.activity.destinations.map(\.recipient)
            + (try await entries(query)).map(\.record.recipient)
        return Set(known).sorted()
    }

    /// The recipient with this name. If both a device and a channel have the name, the device.
    private func recipient(
        called name: Identifier, of question: Question
    ) async throws(Problem) -> Recipient {
        let isThere = question.activity.destinations.contains { $0.recipient == .device(name) }
        guard !isThere else { return .device(name) }
        let known = try await recipients(of: question)
        let isChannel = known.contains(.channel(name)) && !known.contains(.device(name))
        return isChannel ? .channel(name) : .device(name)
    }

    /// The event that made the version in question.
    private func asked(_ question: Question) async throws(Problem) -> Evidence.Asked {
        let view = question.activity
        if let moment = question.moment {
            let (_, last) = try await fold(upTo: .instant(moment), of: view, question.tenant)
            guard let last else {
                throw Problem(
                    .unknownActivity,
                    "The activity \"\(view.key.id)\" was not there yet at \(moment.rfc3339), or its "
                        + "history of then was cut.")
            }
            return Evidence.Asked(last)
        }
        return Evidence.Asked(
            try await event(of: question.version ?? view.version, view, question.tenant))
    }

    private func evidence(
        _ question: Question, _ asked: Evidence.Asked, _ recipient: Recipient
    ) async throws(Problem) -> Evidence {
        let view = question.activity
        var evidence = Evidence(
            activity: view.key.id, app: view.app, type: view.type, status: view.status,
            newest: view.version, recipient: recipient, asked: asked, now: await relay.wallNow())
        (evidence.moment, evidence.staleAt) = (question.moment, view.staleAt)
        evidence.typeCheck = await relay.read { core, _ in core.typeCheck(view.key) }
        if case .device(let device) = recipient {
            evidence.registration = await relay.device(
                DeviceKey(tenant: question.tenant, id: device))
        }
        evidence.chooseCard(among: view.destinations, question.card)
        evidence.channel = view.channel
        evidence.deliveries = try await deliveries(question, asked, recipient, evidence.cards.first)
        evidence.silentEnd = try await silentEnd(question, asked)
        if asked.version == view.version {
            evidence.refusals = refusals(of: view.key, since: asked.recordedAt)
        }
        let fate = evidence.fate
        // If the clock ran ahead, the event may seem later than its delivery: use the earlier time.
        let came = min(asked.recordedAt, fate?.at ?? asked.recordedAt)
        let since = came - .hours(24)
        let until = (fate?.at ?? evidence.now) + .hours(1)
        evidence.phone = try await phone(question, recipient, since: since, around: until)
        evidence.relay = try await relayFacts(
            question.tenant, until: max(until, question.moment.map { $0 + .hours(1) } ?? until))
        var thinned = FactQuery(tenant: question.tenant)
        (thinned.kinds, thinned.limit) = ([NewFact.thinned], 1_000)
        (thinned.from, thinned.until) = (came, until)
        evidence.thinned = try await facts(thinned).facts.map(\.fact)
        let tenant = question.tenant
        evidence.thinned += await relay.read { core, now in
            core.comingThinning(of: tenant, now: now).map { [$0] } ?? []
        }
        let starts = evidence.relay.filter { fact in
            fact.kind == "relay.started" && fact.recordedAt >= asked.recordedAt
                && fate.map { fact.recordedAt <= $0.at } ?? true
        }
        for start in starts.prefix(Self.explainedStartsMax) {
            evidence.seenBefore[start.recordedAt] = try await seen(
                before: start.recordedAt, question.tenant)
        }
        return evidence
    }

    /// The fact that the relay itself ended the activity, at or after the event's time (with a
    /// second of tolerance); nil if there is none.
    private func silentEnd(
        _ question: Question, _ asked: Evidence.Asked
    ) async throws(Problem) -> NewFact? {
        var query = FactQuery(tenant: question.tenant)
        (query.kinds, query.activity) = (["activity.ended"], question.activity.number)
        (query.from, query.limit) = (asked.recordedAt - .seconds(1), 1)
        return try await facts(query).facts.first?.fact
    }

    /// Deliveries to the recipient: those of the hour before the event, those up to the one that
    /// decides, and the newest ones.
    private func deliveries(
        _ question: Question, _ asked: Evidence.Asked, _ recipient: Recipient, _ card: Int64?
    ) async throws(Problem) -> [DeliveryEntry] {
        var query = FactQuery(tenant: question.tenant)
        (query.kinds, query.recipient) = (DeliveryRecord.kinds, recipient)
        (query.activity, query.limit) = (question.activity.number, 1_000)
        query.from = asked.recordedAt - .hours(1)
        var found = try await goingOn(query)
        var isFound = false
        try await readPages(of: query) { page in
            found += page.compactMap { DeliveryEntry($0, activity: question.activity.key.id) }
            isFound = found.contains {
                $0.record.concerns(card) && $0.record.decision(of: asked.version) != nil
            }
            return !isFound
        }
        guard isFound else {
            let known = Set(found.map(\.number))
            found += try await deliveries(downTo: asked.version, query, question, card)
                .filter { !known.contains($0.number) }
            return found.sorted { $0.number < $1.number }
        }
        (query.order, query.after, query.limit) = (.newestFirst, 0, 20)
        let newest = try await entries(query).filter { $0.number > found.last?.number ?? 0 }
        return found + newest.reversed()
    }

    /// Reads deliveries from the newest back to the first one before the version. It compares
    /// version numbers because times are wrong if the clock ran ahead.
    private func deliveries(
        downTo version: Int64, _ asked: FactQuery, _ question: Question, _ card: Int64?
    ) async throws(Problem) -> [DeliveryEntry] {
        var query = asked
        (query.from, query.after, query.order, query.limit) = (nil, 0, .newestFirst, 200)
        var found: [DeliveryEntry] = []
        try await readPages(of: query) { page in
            found += page.compactMap { DeliveryEntry($0, activity: question.activity.key.id) }
            return found.last { $0.record.concerns(card) }
                .map { $0.record.version >= version } ?? true
        }
        return found
    }

    /// Each card's last delivery before the query's time, if it also decides later versions.
    private func goingOn(_ asked: FactQuery) async throws(Problem) -> [DeliveryEntry] {
        var query = asked
        (query.from, query.until) = (nil, asked.from)
        (query.order, query.limit) = (.newestFirst, 20)
        let found = try await entries(query)
        let places = DeliveryRecord.goingOn(in: found.map(\.record).reversed())
        return places.reversed().map { found[found.count - 1 - $0] }
    }

    private func phone(
        _ question: Question, _ recipient: Recipient, since: Instant, around: Instant
    ) async throws(Problem) -> [NewFact] {
        var query = FactQuery(tenant: question.tenant)
        (query.order, query.limit) = (.newestFirst, 100)
        (query.kinds, query.recipient, query.from) = (Evidence.phoneKinds, recipient, since)
        var found: [Int64: NewFact] = [:]
        // Read the activity's own facts apart: the phone's other facts may be many, and those about
        // other cards do not matter.
        for isOwn in [true, false] {
            query.activity = isOwn ? question.activity.number : nil
            for until in [nil, around] {
                query.until = until
                for fact in try await facts(query).facts
                where isOwn || fact.fact.activity == nil && fact.fact.kind != "card.reported" {
                    found[fact.seq] = fact.fact
                }
            }
        }
        return found.sorted { $0.key < $1.key }.map(\.value)
    }

    private func entries(_ query: FactQuery) async throws(Problem) -> [DeliveryEntry] {
        var names = ActivityNames(tenant: query.tenant)
        var found: [DeliveryEntry] = []
        for fact in try await facts(query).facts {
            if let entry = await names.delivery(fact, relay) { found.append(entry) }
        }
        return found
    }
}

extension ActivityView {
    /// The activity's channel, if it has one.
    fileprivate var channel: Identifier? {
        destinations.last { $0.recipient.isChannel }?.recipient.name
    }
}

extension Evidence.Asked {
    fileprivate init(_ event: RecordedEvent) {
        self.init(
            version: event.version, kind: event.event.kind, recordedAt: event.event.recordedAt,
            alertFault: JSON(unchecked: event.event.body).document.root["alert"]
                .flatMap(Alert.fault))
    }
}
