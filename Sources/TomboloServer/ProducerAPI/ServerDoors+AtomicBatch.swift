import TomboloAPI
import TomboloCore
import TomboloHTTP
import TomboloRelay

extension ServerDoors {
    /// `POST /v1/events?atomic=true`: all lines are stored in one commit, or none is.
    func appendAtomically(
        _ request: DoorRequest, _ exchange: HTTPExchange
    ) async throws(Problem) -> DoorResponse {
        let lines = try await commands(request, exchange)
        guard !lines.isEmpty else {
            throw Problem(.invalidJSON, "The batch is empty. Send one event a line.")
        }
        let answer = await relay.submitAtomically(lines.map(\.command))
        switch answer {
        case .acceptedAll(let accepted):
            var writer = LinesWriter()
            for (line, one) in zip(lines, accepted) {
                writer.write(.accepted(id: line.id, CommandAnswer(one)))
            }
            return DoorResponse(
                status: 200, fields: ["content-type": "application/x-ndjson"], body: writer.bytes)
        case .refused(let refusal): throw Problem(refusal)
        case .refusedBatch(let index, let refusal):
            throw Problem(refusal).adding("line", lines[index].line)
        case .accepted, .replay, .stored:
            throw Problem(.internalError, "The relay answered an atomic batch with something else.")
        }
    }

    private struct AtomicLine {
        var command: Command
        var id: String?
        var line: Int
    }

    /// All lines, read; the first that is wrong spoils the batch.
    private func commands(
        _ request: DoorRequest, _ exchange: HTTPExchange
    ) async throws(Problem) -> [AtomicLine] {
        let bytesMax = configuration.atomicBytesMax
        let body: [UInt8]
        do {
            body = try await exchange.body(atMost: bytesMax)
        } catch {
            throw Problem(error, bytesMax: bytesMax)
        }
        var splitter = LineSplitter(lineBytesMax: configuration.bodyBytesMax)
        splitter.append(body)
        var lines: [AtomicLine] = []
        while let line = splitter.next() { try add(line, to: &lines, request) }
        if let line = splitter.last() { try add(line, to: &lines, request) }
        return lines
    }

    private func add(
        _ line: LineSplitter.Line, to lines: inout [AtomicLine], _ request: DoorRequest
    ) throws(Problem) {
        guard lines.count < configuration.atomicLinesMax else {
            throw Problem(
                .bodyTooLarge,
                "An atomic batch has at most \(configuration.atomicLinesMax) lines. Send several, "
                    + "or leave ?atomic=true away.")
        }
        switch BatchLine(
            line, tenant: request.tenant, lineBytesMax: configuration.bodyBytesMax)
        {
        case .command(let command, let id, let number):
            lines.append(AtomicLine(command: command, id: id, line: number))
        case .problem(let problem, _, let number):
            throw problem.adding("line", number)
        }
    }
}
