import TomboloAPI
import TomboloCore
import TomboloHTTP
import TomboloJSON
import TomboloRelay

extension ServerDoors {
    func listDeadLetters(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        var query = DeadLetterQuery(tenant: request.tenant)
        query.activity = try request.identifier(inQuery: "activity")
        query.device = try request.identifier(inQuery: "device")
        query.reason = request.target["reason"]
        let page = await relay.deadLetters(
            query, before: try request.integer("cursor", in: 1...Int64.max),
            limit: try request.limit())
        if page.letters.isEmpty { try await checkNames(request, query.activity, query.device) }
        return .json { DeadLetterPage(page.letters, next: page.next).write(to: &$0) }
    }

    func retryDeadLetters(
        _ request: DoorRequest, _ exchange: HTTPExchange
    ) async throws(Problem) -> DoorResponse {
        let document = try await request.json(of: exchange, atMost: configuration.bodyBytesMax)
        let asked: RetryRequest
        do {
            asked = try RetryRequest(document.root, tenant: request.tenant)
        } catch {
            throw Problem(error)
        }
        if await relay.deadLetters(asked.query, before: nil, limit: 1).letters.isEmpty {
            try await checkNames(request, asked.query.activity, asked.query.device)
        }
        if try request.isDryRun {
            let stored = try Self.found(await relay.dryRun(asked.query))
            return .json { RetryAnswer(stored, isDryRun: true).write(to: &$0) }
        }
        let deed = deed("dead-letters.retried", [:], request)
        let stored = try Self.stored(await relay.retry(asked.query, deed: deed), "a retry")
        tell(deed, "\(stored.count) pushes that Apple refused go again")
        return .json { RetryAnswer(stored).write(to: &$0) }
    }
}
