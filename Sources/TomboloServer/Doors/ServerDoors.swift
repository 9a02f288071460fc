import TomboloAPI
import TomboloCore
import TomboloCrypto
package import TomboloHTTP
package import TomboloLoop
package import TomboloRelay

/// All doors of the relay: routes a request, checks its key, carries it out, and answers.
///
/// The rules of activities are in the core. The doors guarantee that nothing is done before the
/// scope is checked, that the tenant comes only from the key, and that every refusal is a problem
/// with a remedy. They are used on the loop's thread only, hence `@unchecked Sendable`.
///
/// ```swift
/// let doors = ServerDoors(
///     relay: relay, access: access, loop: loop,
///     configuration: DoorsConfiguration(version: "1.0.0"))
/// let server = try HTTPServer(loop: loop, listen: address, handler: doors)
/// try await server.run()
/// ```
package final class ServerDoors: HTTPHandler, @unchecked Sendable {
    let relay: Relay
    let access: AccessControl
    let loop: any Loop
    let configuration: DoorsConfiguration
    let channels: (any ChannelService)?
    /// End of the listener's certificate in Unix seconds; nil without TLS.
    package var certificateEnd: Int64?
    /// Returns the HTTP server's counts; nil without a server, as in tests.
    package var watch: (() -> HTTPServerView)?
    /// Returns the resources of process and disk; nil if they are not measured, as in tests.
    package var machine: (() -> MachineView)?
    /// Reloads the configuration; with true it only reports what would happen. Nil if there is no
    /// reload, as in `tombolo dev`.
    package var reload: ((Bool) async -> [OperatorNote])?
    /// The simulated phones of `tombolo dev`; nil elsewhere.
    package var phoneWall: PhoneWall?
    /// Receives notes for the operator.
    package var report: @Sendable (OperatorNote) -> Void = { _ in }
    private var notes = ProblemNotes()
    /// Counts of requests with a valid key, by tenant.
    var counters: [TenantID: DoorCounters] = [:]
    var answers = AnswerMemory()
    var history = HistoryMemory()
    var overviews = OverviewMemory()
    /// The newest refused and slow requests.
    var requests = RequestMemory()
    /// The open requests of each key, by its id; without entries for idle keys.
    private(set) var uses: [String: KeyUse] = [:]
    private var suggestions = SuggestionAllowance()
    private(set) var refusedKeys: RefusedKeys
    private let chance: @Sendable (Int) -> [UInt8]
    /// Complete requests wait here, so that one tenant's flood delays only itself.
    private let turns: TurnGate<TenantID>

    /// True during a stop: tails end, and `/readyz` reports it.
    private(set) var isDraining = false

    /// - Parameters:
    ///   - channels: makes broadcast channels; nil: they are refused.
    ///   - chance: makes unpredictable bytes for trace ids.
    package init(
        relay: Relay, access: AccessControl, loop: any Loop, configuration: DoorsConfiguration,
        channels: (any ChannelService)? = nil,
        chance: @escaping @Sendable (Int) -> [UInt8] = RandomBytes.make
    ) {
        self.relay = relay
        self.access = access
        self.loop = loop
        self.configuration = configuration
        refusedKeys = RefusedKeys(configuration)
        self.channels = channels
        self.chance = chance
        turns = TurnGate(perTurn: configuration.requestsPerTurnMax, on: loop)
    }

    /// Ends the endless answers. Call it before `HTTPServer.drain`.
    package func drain() {
        loop.checkIsolated()
        isDraining = true
    }

    package func handle(_ exchange: HTTPExchange) async {
        let head = exchange.head
        if let response = options(head) { return send(response, to: exchange) }
        var asked = AskedRequest(head: head, time: RequestTime(loop))
        var principal: Principal?
        do {
            let request = try admit(exchange, &asked)
            principal = request.principal
            // A request with a body waits for its turn after the body has come.
            if !exchange.hasBody { await request.takeTurn() }
            guard let response = try await performCounted(request) else { return }
            count(request.route, principal, response.status)
            await keepIfSlow(asked, status: response.status)
            send(response, to: exchange)
        } catch {
            if let route = asked.match?.route { count(route, principal, error.status) }
            if let tenant = principal?.tenant {
                counters[tenant, default: DoorCounters()].count(error.code)
            }
            await keep(error, asked)
            let traceID = traceID(of: head)
            send(.problem(error, traceID: traceID), to: exchange)
            let noted = ProblemNotes.Request(
                method: head.method, operation: asked.match?.route.operation, traceID: traceID,
                tenant: principal?.tenant.name.rawValue, keyID: principal?.keyID ?? error.keyID,
                address: principal == nil ? head.peerAddress : nil)
            for note in notes.notes(of: error, noted, now: loop.now) { report(note) }
        }
    }

    /// Reports the gathered counts; call it once a minute.
    func tellGathered(isFull: Bool) {
        for note in notes.gathered(isFull: isFull) { report(note) }
    }

    /// Counts stored events of the key.
    func countEvents(_ count: Int = 1, by key: AskingKey, of tenant: TenantID) {
        guard count > 0 else { return }
        counters[tenant, default: DoorCounters()].countEvents(count, by: key.id)
        notes.stored(count, by: ProblemNotes.Sender(key: key.id, tenant: tenant.name.rawValue))
    }

    /// The trace id of the answer: the client's, or a new one.
    func traceID(of head: HTTPRequestHead) -> String {
        TraceParent(head)?.traceID ?? Hex.encode(chance(16))
    }

    /// Reports a refused part of a request, such as a line of a batch, to the operator.
    func note(_ problem: Problem, _ request: DoorRequest, traceID: String) {
        let asked = ProblemNotes.Request(
            method: request.head.method, operation: request.route.operation, traceID: traceID,
            tenant: request.principal?.tenant.name.rawValue, keyID: request.principal?.keyID)
        for note in notes.notes(of: problem, asked, now: loop.now) { report(note) }
    }

    /// Counts an answer for the key's tenant.
    private func count(_ route: Route, _ principal: Principal?, _ status: Int) {
        guard let tenant = principal?.tenant else { return }
        counters[tenant, default: DoorCounters()].count(route.operation, status: status)
    }

    /// Begins a streamed answer.
    func begin(_ request: DoorRequest, _ fields: HTTPFields) {
        count(request.route, request.principal, 200)
        request.exchange.begin(200, Self.guarded(fields))
    }

    /// Sends a complete answer to a request that would otherwise be streamed.
    func respond(_ request: DoorRequest, _ response: DoorResponse) {
        count(request.route, request.principal, response.status)
        send(response, to: request.exchange)
    }

    /// Carries out a request, and counts it as an open one of its key meanwhile.
    private func performCounted(_ request: DoorRequest) async throws(Problem) -> DoorResponse? {
        guard let use = request.use, let key = request.principal?.keyID else {
            return try await request.route.handler(self)(request)
        }
        let isTail = request.route.operation == .tail
        try use.begin(isTail: isTail, configuration)
        uses[key] = use
        defer {
            use.end(isTail: isTail)
            if use.requests == 0 { uses[key] = nil }
        }
        do throws(Problem) {
            try await request.checkDevice(relay)
        } catch {
            if [.keyOfFormerUser, .keyNotSignedIn].contains(error.code),
                request.route.operation == .timelineEntries
            {
                await noteRefusedFetch(request, error)
            }
            throw error
        }
        return try await request.route.handler(self)(request)
    }

    private func send(_ response: DoorResponse, to exchange: HTTPExchange) {
        exchange.respond(
            response.status, Self.guarded(response.fields), response.body,
            isShared: response.isShared)
    }

    /// Adds fields: browsers must not guess the media type, and an answer must not be stored unless
    /// it says so (RFC 9111, section 5.2.2), because most are private.
    static func guarded(_ fields: HTTPFields) -> HTTPFields {
        var fields = fields
        if !fields.contains("x-content-type-options") {
            fields.append("x-content-type-options", "nosniff")
        }
        if !fields.contains("cache-control") { fields.append("cache-control", "no-store") }
        return fields
    }

    /// Finds the route and checks the key: every `DoorRequest` is made here.
    ///
    /// - Parameter asked: gets the route and the key as soon as they are known, even if the request
    ///   is then refused.
    private func admit(
        _ exchange: HTTPExchange, _ asked: inout AskedRequest
    ) throws(Problem) -> DoorRequest {
        let head = exchange.head
        guard let target = RequestTarget(head.target) else {
            throw Problem(
                .unknownRoute,
                "The path cannot be read: an escape is broken, it is not UTF-8, or a name in it has a "
                    + "control character, or is . or ..")
        }
        let match = try match(head.method, target)
        asked.match = match
        try authorize(&asked, match)
        let principal = asked.principal
        let request = DoorRequest(
            head: head, target: target, match: match, principal: principal, access: access,
            exchange: exchange, use: principal.map { uses[$0.keyID] ?? KeyUse() }, turns: turns,
            time: asked.time)
        try request.checkQuery()
        try request.checkFields()
        return request
    }

    private func match(_ method: String, _ target: RequestTarget) throws(Problem) -> RouteMatch {
        switch RouteTable.lookup(method: method, segments: target.segments) {
        case .found(let match): return match
        case .otherMethods(let methods):
            var problem = Problem(
                .methodNotAllowed,
                "This path does not take \(method). It takes \(methods.joined(separator: ", "))."
                    + waysOut(of: method, target.segments))
            problem.allow = methods
            throw problem
        case .nothing:
            let nearest =
                suggestions.take(now: loop.now) ? RouteTable.nearest(to: target.segments) : nil
            let hint =
                nearest.map { pattern in
                    let hasSlash = target.segments.count > pattern.split(separator: "/").count
                    return "Did you mean \(pattern)?" + (hasSlash ? " An id has no slash." : "")
                }
                ?? "The API is under /v1, described in /openapi.json; /console/ is for people, and "
                + "/problems lists every error."
            throw Problem(.unknownRoute, "There is nothing at this path. \(hint)")
        }
    }

    /// Requests that may have been meant, each as a sentence.
    private func waysOut(of method: String, _ segments: [String]) -> String {
        guard suggestions.take(now: loop.now) else { return "" }
        return RouteTable.alternatives(to: method, segments).map { other in
            let summary = APIDescription.summary(other.operation).map { ": \($0)" } ?? ""
            return " \(other.request)\(summary)."
        }.joined()
    }

    /// The methods of a path (RFC 9110, section 9.3.7), without a key: the API's description is
    /// public, too. Nil if the request is not OPTIONS or the path is unknown.
    private func options(_ head: HTTPRequestHead) -> DoorResponse? {
        guard head.method == "OPTIONS", let target = RequestTarget(head.target),
            case .otherMethods(let methods) = RouteTable.lookup(
                method: head.method, segments: target.segments)
        else { return nil }
        let fields: HTTPFields = [
            "allow": methods.joined(separator: ", "), "cache-control": "no-cache",
        ]
        return DoorResponse(status: 204, fields: fields, body: [])
    }

    /// Finds the key's owner. Throws if there is none, or if the key may not make the request.
    private func authorize(_ asked: inout AskedRequest, _ match: RouteMatch) throws(Problem) {
        let (head, route) = (asked.head, match.route)
        guard route.access != .open else { return }
        let principal: Principal
        do throws(Problem) { principal = try access.principal(of: head) } catch {
            throw refusedKeys.answer(
                error, to: route.operation, of: head.peerAddress, now: loop.now)
        }
        asked.principal = principal
        let device = match.parameters["device"].flatMap { Identifier($0) }
        guard route.access.isCovered(by: principal.scopes, device: device) else {
            throw AccessControl.forbidden(route.access, device: device, key: principal)
        }
    }
}
