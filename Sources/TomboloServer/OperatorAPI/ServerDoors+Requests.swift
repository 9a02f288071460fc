import TomboloAPI
import TomboloCore
import TomboloHTTP
import TomboloLoop
import TomboloRelay

/// What is known of a request while it is carried out, also if it is refused before its door.
struct AskedRequest: Sendable {
    let head: HTTPRequestHead
    let time: RequestTime
    /// Nil if nothing is at the path.
    var match: RouteMatch?
    /// The key's owner, also if the key may not make the request; nil: none, or not asked for.
    var principal: Principal?

    private static let nameless: Set<Operation> = [.eraseActivity, .eraseDevice]

    /// True for an erasure, which is not kept with the name that it erases.
    var isNameless: Bool { match.map { Self.nameless.contains($0.route.operation) } ?? false }

    /// The request's entry. It names things only by parameters of the path.
    func entry(status: Int, at now: Instant) -> RequestEntry {
        var entry = RequestEntry(
            at: now, method: head.method, status: status, address: head.peerAddress)
        entry.key = principal?.keyID
        guard let route = match?.route else { return entry }
        (entry.operation, entry.path) = (route.operation.rawValue, route.path.text)
        entry.isDryRun = RequestTarget(head.target)?[Route.dryRun] == "true"
        guard !isNameless else { return entry }
        let names = match?.parameters ?? [:]
        entry.device = names["device"].flatMap { Identifier($0) }
        if route.path.text.hasPrefix("/v1/activities/{id}") {
            entry.activity = names["id"].flatMap { Identifier($0) }
        }
        return entry
    }
}

extension ServerDoors {
    /// A request that took longer than this without its waits is slow.
    static let slowMin = Duration.milliseconds(100)
    /// `took_ms` has steps of so many milliseconds: the exact time would tell a tenant how busy
    /// the others are. That one of its requests was slow, the client has seen itself.
    private static let tookStep: Int64 = 100
    /// Of the refused lines of a batch so many are kept.
    static let linesKept = 3

    /// `GET /v1/requests`: the tenant's refused and slow requests, newest first, as far as they are
    /// remembered. Who operates the relay also sees those of strangers.
    func listRequests(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let (limit, tenant) = (try request.limit(), request.tenant)
        let kind = try request.word("kind", among: ["refused", "slow"])
        let code = try request.word("code", among: ProblemCode.allCases.map(\.rawValue))
        let activity = try request.identifier(inQuery: "activity")
        let before = try request.integer("cursor", in: 1...Int64.max) ?? .max
        let isOperator = request.principal?.operatesRelay ?? false
        return try await page(for: request, bytes: IDPage.bytesMax) { () async throws(Problem) in
            let found = requests.listed(of: tenant, withStrangers: isOperator) { entry in
                guard entry.number < before else { return false }
                if kind == "refused", !entry.isRefused { return false }
                if kind == "slow", entry.tookMilliseconds == nil { return false }
                if let code, !entry.causes.contains(where: { $0.code.rawValue == code }) {
                    return false
                }
                return activity.map { entry.concerns($0) } ?? true
            }
            let rows = found.prefix(limit).map { entry in
                var entry = entry
                entry.keyName = entry.key.flatMap { access.record(id: $0, of: tenant)?.traits.name }
                return entry
            }
            let next = rows.count < found.count ? rows.last.map { "\($0.number)" } : nil
            return .json { ListPage("requests", rows, next: next).write(to: &$0) }
        }
    }

    /// Keeps a refused request. Every refusal passes here, whichever door it comes from.
    func keep(_ problem: Problem, _ asked: AskedRequest) async {
        var asked = asked
        // A wrong path is refused before its key is looked at. Its tenant is to see it.
        if asked.match == nil, asked.principal == nil {
            do throws(Problem) { asked.principal = try access.principal(of: asked.head) } catch {
                // No valid key: it stays a stranger's.
            }
        }
        var entry = asked.entry(status: problem.status, at: await relay.wallNow())
        entry.cause = RequestEntry.Cause(problem)
        if asked.isNameless {
            entry.cause?.detail = problem.page.title
        } else {
            entry.activity = entry.activity ?? problem.activity
        }
        entry.key = entry.key ?? problem.keyID
        entry.tookMilliseconds = Self.slowness(asked)
        requests.keep(entry, of: asked.principal?.tenant)
    }

    /// Keeps a request that was answered, if it was slow. Streamed answers never are: they last as
    /// long as the client reads or sends.
    func keepIfSlow(_ asked: AskedRequest, status: Int) async {
        guard let took = Self.slowness(asked), asked.principal != nil else { return }
        var entry = asked.entry(status: status, at: await relay.wallNow())
        entry.tookMilliseconds = took
        requests.keep(entry, of: asked.principal?.tenant)
    }

    /// Keeps the refused lines of a batch as one entry.
    func keep(_ refused: RefusedLines, _ request: DoorRequest) async {
        guard refused.total > 0 else { return }
        let asked = AskedRequest(
            head: request.head, time: request.time, match: request.match,
            principal: request.principal)
        var entry = asked.entry(status: 200, at: await relay.wallNow())
        (entry.linesRefused, entry.lines) = (refused.total, refused.first)
        requests.keep(entry, of: request.tenant)
    }

    private static func slowness(_ asked: AskedRequest) -> Int64? {
        let taken = asked.time.taken
        guard taken > slowMin else { return nil }
        let milliseconds = taken.nanoseconds / 1_000_000
        return milliseconds - milliseconds % tookStep
    }

    /// The refusals of an activity's producer since a moment; nil if there are none. Dry runs, and
    /// lines beyond the first of a batch, do not count.
    func refusals(of activity: ActivityKey, since moment: Instant) -> Evidence.Refusals? {
        let found = requests.listed(of: activity.tenant, withStrangers: false) { entry in
            entry.at >= moment && entry.isRefused && !entry.isDryRun && entry.concerns(activity.id)
                && entry.operation.map(Self.producing.contains) ?? false
        }
        guard let last = found.first else { return nil }
        func causes(_ entry: RequestEntry) -> [RequestEntry.Cause] {
            let lines = entry.lines.filter { $0.activity == activity.id }.map(\.cause)
            return entry.cause.map { [$0] } ?? lines
        }
        guard let cause = causes(last).last else { return nil }
        return Evidence.Refusals(
            count: found.reduce(0) { $0 + causes($1).count }, last: last.at, cause: cause)
    }

    private static let producing = Set(
        RouteTable.routes.filter { $0.access == .produce }.map(\.operation.rawValue))

    /// Forgets the requests about an erased activity, and overviews, which may name it.
    func forgetRequests(about activity: ActivityKey) {
        overviews.forget()
        for owner in [activity.tenant, nil] {
            requests.forget(of: owner) {
                RequestMemory.names([activity.id.rawValue[...]], in: $0)
            }
        }
    }

    /// Forgets the requests of and about an erased device, and the tenant's about activities that
    /// are not there any more: those for this device alone were erased with it.
    ///
    /// - Parameter ids: the device's id, and those of its keys.
    func forgetRequests(naming ids: [String], user: String?, of tenant: TenantID) async {
        overviews.forget()
        let entries = requests.listed(of: tenant, withStrangers: false) { _ in true }
        let activities = Set(
            entries.flatMap { [$0.activity] + $0.lines.map(\.activity) }.compactMap { $0 })
        var ids = Set(ids.map { $0[...] })
        requests.forget(of: nil) { RequestMemory.names(ids, user: user, in: $0) }
        for activity in activities.sorted() {
            let key = ActivityKey(tenant: tenant, id: activity)
            if await relay.activity(key) == nil { ids.insert(activity.rawValue[...]) }
        }
        requests.forget(of: tenant) { RequestMemory.names(ids, user: user, in: $0) }
    }
}
