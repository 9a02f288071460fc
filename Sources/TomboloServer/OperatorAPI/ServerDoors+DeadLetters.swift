import TomboloAPI
import TomboloCore
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

    func retryDeadLetters(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let asked = try await read(request) { view throws(FieldErrors) in
            try RetryRequest(view, tenant: request.tenant)
        }
        if await relay.deadLetters(asked.query, before: nil, limit: 1).letters.isEmpty {
            try await checkNames(request, asked.query.activity, asked.query.device)
        }
        if try request.isDryRun {
            let stored = try Self.found(await relay.dryRunDeadLetters(asked.query))
            return .json { RetryAnswer(stored, isDryRun: true).write(to: &$0) }
        }
        let deed = deed("dead-letters.retried", [:], request)
        let stored = try Self.stored(await relay.retry(asked.query, deed: deed), "a retry")
        tell(deed, "\(stored.count) pushes that Apple refused go again")
        return .json { RetryAnswer(stored).write(to: &$0) }
    }

    /// Retries one delivery whose push was refused. Throws if nothing would be sent.
    func retryDelivery(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let id = request.parameter("id")
        let entry = try await page(for: request) { () async throws(Problem) in
            try await self.delivery(id, of: request.tenant)
        }
        guard let attempt = entry.record.attempt, case .refused = attempt.answer else {
            throw Problem(
                .notADeadLetter,
                "The delivery \"\(id)\" is \(entry.result), and was not refused by Apple.")
        }
        var query = DeadLetterQuery(tenant: request.tenant)
        query.apnsID = attempt.apnsID
        // Make a dry run first, so that a retry that would send nothing leaves no trace in the log.
        var stored = try Self.sent(await relay.dryRunDeadLetters(query), id)
        guard try !request.isDryRun else {
            return .json { RetryAnswer(stored, isDryRun: true).write(to: &$0) }
        }
        let deed = deed("dead-letters.retried", ["delivery": entry.id], request)
        switch await relay.retry(query, deed: deed) {
        case .refused(let refusal): stored = try Self.sent(.failure(refusal), id)
        case let answer: stored = try Self.sent(.success(Self.stored(answer, "a retry")), id)
        }
        tell(deed, "a push that Apple refused goes again")
        return .json { RetryAnswer(stored).write(to: &$0) }
    }

    /// Returns the result. Throws if it says that nothing is sent.
    private static func sent(
        _ result: Result<Stored, Refusal>, _ id: String
    ) throws(Problem) -> Stored {
        switch result {
        case .success(let stored) where stored.count > 0: return stored
        case .success(let stored):
            let why = stored.kept.first?.obstacle.sentence ?? "its card is gone"
            throw Problem(
                .nothingToSendTo,
                "Nothing is sent for the delivery \"\(id)\": \(why). Its dead letter stays.")
        case .failure(let refusal) where refusal.code == .unknownDeadLetter:
            throw Problem(
                .notADeadLetter,
                "Apple refused the delivery \"\(id)\", but its dead letter is not there any more: "
                    + "it was already retried, or it is too old.")
        case .failure(let refusal): throw Problem(refusal)
        }
    }
}
