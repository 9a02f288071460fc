import TomboloAPI
import TomboloCore
import TomboloEventLog
import TomboloHTTP
import TomboloJSON
import TomboloLoop
import TomboloRelay

extension ServerDoors {
    func startActivity(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        var command = try await command(.start, request)
        command.restart = try request.flag("restart")
        return try await submit(command, request)
    }

    func updateActivity(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        try await submit(try await command(.update, request), request)
    }

    func endActivity(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        try await submit(try await command(.end, request, orEmpty: true), request)
    }

    func playClip(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        try await submit(try await command(.play, request), request)
    }

    func stopClip(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let clip = request.parameter("clip")
        // The log stores the request as an object, like a line of a batch.
        let body = JSONWriter.objectBytes { $0.member("clip", clip) }
        var command = Command(
            activity: try request.activityKey(), content: .stop(clip: clip), body: body)
        command.expectation = try request.expectation()
        command.idempotency = try request.idempotencyKey(body: body)
        return try await submit(command, request)
    }

    /// Reads the command of a request with one event.
    private func command(
        _ kind: EventKind, _ request: DoorRequest, orEmpty: Bool = false
    ) async throws(Problem) -> Command {
        let key = try request.activityKey()
        let expectation = try request.expectation()
        let sent = try await request.sentJSON(atMost: configuration.bodyBytesMax, orEmpty: orEmpty)
        let (content, body): (Command.Content, [UInt8])
        do {
            (content, body) = try Command.Content.reading(kind, sent)
        } catch {
            var problem = Problem(error)
            if kind == .start, error.errors.contains(where: { $0.pointer == "/type" }) {
                problem.detail +=
                    " PUT starts an activity; PATCH /v1/activities/\(key.id) changes it."
            }
            throw problem
        }
        var command = Command(activity: key, content: content, body: body)
        command.expectation = expectation
        command.idempotency = try request.idempotencyKey(body: sent.bytes)
        return command
    }

    /// Carries out the command of a request with one event, and adds the request's key and trace.
    func submit(_ asked: Command, _ request: DoorRequest) async throws(Problem) -> DoorResponse {
        var command = asked
        (command.key, command.trace) = (request.asking, request.trace)
        if case .start(var start) = command.content {
            start.mayLearnNames = request.mayObserve
            command.content = .start(start)
        }
        if try request.isDryRun {
            let answer = DryRunAnswer(
                try Self.found(await relay.dryRun(command)), mayObserve: request.mayObserve)
            return .json { answer.write(to: &$0) }
        }
        let answer = await relay.submit(command)
        var reply = try await self.answer(answer, to: command)
        var fields: HTTPFields = ["etag": reply.entityTag]
        if reply.httpStatus == 201, reply.kind == .start {
            fields.append("location", "/v1/activities/\(reply.activity.rawValue)")
        }
        if reply.replayed { fields.append("idempotent-replayed", "true") }
        if let seconds = request.preferredWait(atMost: configuration.waitMax) {
            fields.append("preference-applied", "wait=\(seconds)")
            let (activity, version) = (command.activity, reply.version)
            let view = await request.time.leavingOut {
                await relay.waitForDelivery(
                    activity, version: version, deadline: loop.now + .seconds(seconds))
            }
            reply.tellDeliveries(of: view, mayObserve: request.mayObserve)
        }
        if command.idempotency != nil, reply.changed, !reply.replayed { answers.remember(reply) }
        return .json(reply.httpStatus, fields) { reply.write(to: &$0) }
    }

    /// Turns the relay's answer to a command into the API's, for single requests and lines alike.
    func answer(_ answer: Answer, to command: Command) async throws(Problem) -> CommandAnswer {
        switch answer {
        case .accepted(let accepted):
            if accepted.changed { countEvents(by: command.key, of: command.activity.tenant) }
            return CommandAnswer(accepted, in: await relay.logID(of: command.activity.tenant))
        case .replay(let seq): return try await replay(seq, command)
        case .acceptedAll, .replayAll, .partlyThere, .refused, .refusedBatch, .stored:
            throw answer.fault(of: "a command")
        }
    }

    /// Repeats the answer of the event, after a full comparison of the key: the relay only knows a
    /// hash of it.
    private func replay(_ seq: Int64, _ command: Command) async throws(Problem) -> CommandAnswer {
        let tenant = command.activity.tenant
        guard let event = try await event(seq, of: tenant) else {
            await relay.noteDamage()
            throw Problem(
                .eventDamaged,
                "The event of this idempotency key cannot be read, so its answer is not known. "
                    + "Look at the activity, and send what is still to be done with another key.")
        }
        guard let idempotency = command.idempotency, let known = event.event.idempotency,
            known.key == idempotency.key,
            known == idempotency
                ? true : await relay.read({ core, _ in core.isRequest(command, of: event.event) })
        else {
            throw Problem(
                .idempotencyKeyReused,
                "This idempotency key belongs to event \(event.tenantSeq), which had another "
                    + "method, path or body. Give this request a key of its own.")
        }
        // The lint of an answer may name devices that another key must not learn.
        if var answer = answers[seq], event.event.key == command.key {
            answer.replayed = true
            return answer
        }
        let view = await relay.activity(command.activity)
        return CommandAnswer(replaying: event, of: command.activity.id, now: view)
    }

    /// The event at a place among the tenant's commands.
    func event(tenantSeq: Int64, of tenant: TenantID) async throws(Problem) -> RecordedEvent? {
        var query = EventQuery(tenant: tenant)
        (query.after, query.through, query.limit) = (tenantSeq - 1, tenantSeq, 1)
        let page = try await events(query)
        await relay.noteDamage()
        if let places = page.damaged.first(where: { $0.contains(tenantSeq) }) {
            throw Problem(.eventDamaged, DamagedPlaces(kind: "command", places).detail)
        }
        return page.events.first { $0.tenantSeq == tenantSeq }
    }

    func event(_ seq: Int64, of tenant: TenantID) async throws(Problem) -> RecordedEvent? {
        do { return try await relay.event(seq: seq, tenant: tenant) } catch { throw Problem(error) }
    }

    func events(_ query: EventQuery) async throws(Problem) -> EventPage {
        do { return try await relay.events(query) } catch { throw Problem(error) }
    }
}
