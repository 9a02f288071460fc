import TomboloAPI
import TomboloCore
import TomboloCrypto
import TomboloEventLog
import TomboloHTTP
import TomboloJSON
import TomboloRelay

extension ServerDoors {
    func showActivity(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let key = try request.activityKey()
        let moment = try pastMoment(request)
        if let moment { try await refuse(ahead: moment, request.tenant) }
        let version = try request.integer("at_version", in: 1...Int64.max)
        guard moment == nil || version == nil else {
            throw Problem(.invalidQuery, "Give one of at, at_seq and at_version.")
        }
        if moment == nil, version == nil {
            // The answer for a thousand devices has 400 KiB.
            return try await page(for: request, bytes: IDPage.bytesMax) {
                () async throws(Problem) in
                let view = try await known(key)
                return Self.validated(view.version, request) { view.write(to: &$0) }
            }
        }
        let view = try await known(key)
        if let moment { return try await showPast(moment, of: view, request) }
        let event = try await page(for: request) { () async throws(Problem) in
            try await self.event(of: version ?? view.version, view, request.tenant)
        }
        return try await showPast(.tenantSeq(event.tenantSeq), of: view, request)
    }

    func known(_ key: ActivityKey) async throws(Problem) -> ActivityView {
        if let view = await relay.activity(key) { return view }
        throw .unknownActivity(key.id)
    }

    /// Adds a validator over the whole answer (RFC 9110, section 8.8.3): the version and a hash,
    /// because deliveries change without a new version. 304 if the client's copy is current.
    static func validated(
        _ version: Int64, _ request: DoorRequest, _ write: (inout JSONWriter) -> Void
    ) -> DoorResponse {
        var response = DoorResponse.json(200, [:], write)
        var hash = StableHash()
        hash.combine(response.body)
        let digest = Hex.encode(withUnsafeBytes(of: hash.value.bigEndian, Array.init))
        let tag = "\"v\(version)-\(digest)\""
        guard !request.head.fields.hasEntityTag(tag) else {
            return DoorResponse(status: 304, fields: ["etag": tag], body: [])
        }
        response.fields.append("etag", tag)
        return response
    }

    func listActivities(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let filter = ActivityFilter(
            tenant: request.tenant, status: try status(request), type: request.target["type"],
            user: request.target["user"])
        let (after, limit) = (try request.identifier(inQuery: "cursor"), try request.limit())
        return try await page(for: request, bytes: IDPage.bytesMax) { () async throws(Problem) in
            let page = await relay.activities(filter, after: after, limit: limit)
            let answer = ListPage("activities", page.views, next: page.next?.rawValue)
            return .json { answer.write(to: &$0) }
        }
    }

    private func status(_ request: DoorRequest) throws(Problem) -> ActivityStatus? {
        let word = try request.word("status", among: ActivityStatus.allCases.map(\.name))
        return ActivityStatus.allCases.first { $0.name == word }
    }

    func endActivities(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let document = try await request.json(atMost: configuration.bodyBytesMax)
        let asked: EndManyRequest
        do { asked = try EndManyRequest(document.root) } catch { throw Problem(error) }
        var wish = EndMany(
            tenant: request.tenant, type: asked.type, user: asked.user, end: asked.end,
            body: document.bytes)
        wish.key = request.asking
        if try request.isDryRun {
            let ended = try Self.found(await relay.dryRunEnds(wish))
            return .json { EndManyAnswer(dryRun: ended).write(to: &$0) }
        }
        switch await relay.endMany(wish) {
        case .acceptedAll(let ended): return .json { EndManyAnswer(ended).write(to: &$0) }
        case .refusedBatch(_, let refusal): throw Problem(refusal)
        case let answer: throw answer.fault(of: "the end of many")
        }
    }
}

extension Problem {
    /// The same problem for an unknown id and for another tenant's id.
    static func unknownActivity(_ id: Identifier) -> Problem {
        Problem(
            .unknownActivity,
            "This log has no activity \"\(id)\": it was never started, was erased, was cut with its "
                + "history, or was lost in a restore. "
                + (id == .reserved
                    ? "No activity can have this id." : "PUT /v1/activities/\(id) starts it."))
    }

    /// The same for a device.
    static func unknownDevice(_ id: Identifier) -> Problem {
        Problem(
            .unknownDevice,
            "No device \"\(id)\" is registered. Register it with PUT /v1/devices/\(id).")
    }
}
