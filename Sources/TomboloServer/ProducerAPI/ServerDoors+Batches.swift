import TomboloAPI
import TomboloCore
import TomboloHTTP
import TomboloJSON
import TomboloRelay

extension ServerDoors {
    /// `POST /v1/events`: lines in, results out, in bounded memory.
    func appendEvents(
        _ request: DoorRequest, _ exchange: HTTPExchange
    ) async throws(Problem) -> DoorResponse? {
        try request.checkIsLines()
        if try request.isDryRun { return try await dryRunLines(request, exchange) }
        if try request.flag("atomic") { return try await appendAtomically(request, exchange) }
        // A proxy that gathers the answer would hold back what the producer waits for.
        begin(
            exchange, request,
            ["content-type": "application/x-ndjson", "x-accel-buffering": "no"])
        do {
            try await appendLines(request, exchange)
        } catch {
            // The peer is gone or reads nothing: what it was not told is in the log all the same.
            return nil
        }
        exchange.finish()
        return nil
    }

    /// Reads a piece, stores its lines, answers them, and only then reads on.
    private func appendLines(
        _ request: DoorRequest, _ exchange: HTTPExchange
    ) async throws(HTTPExchangeError) {
        let lineBytesMax = configuration.bodyBytesMax
        var splitter = LineSplitter(lineBytesMax: lineBytesMax)
        var lines: [BatchLine] = []
        let (key, trace) = (request.asking, request.trace)
        let traceID = traceID(of: request.head)
        func read(_ line: LineSplitter.Line) -> BatchLine {
            BatchLine(
                line, tenant: request.tenant, lineBytesMax: lineBytesMax, key: key, trace: trace)
        }
        func takeLines() async throws(HTTPExchangeError) -> Bool {
            do throws(Problem) {
                try request.checkKey()
            } catch {
                // Nothing more is stored, and nothing more is read.
                var writer = LinesWriter()
                writer.write(
                    .refused(id: nil, line: splitter.linesRead, error), traceID: traceID)
                note(error, request, traceID: traceID)
                try await exchange.write(writer.bytes)
                return false
            }
            try await exchange.write(await results(of: &lines, request, traceID))
            return true
        }
        while let piece = try await exchange.nextPiece() {
            await request.takeTurn()
            splitter.append(piece)
            while let line = splitter.next() {
                lines.append(read(line))
                if lines.count == configuration.linesInFlightMax {
                    guard try await takeLines() else { return }
                }
            }
            if !lines.isEmpty { guard try await takeLines() else { return } }
        }
        if let line = splitter.last() {
            lines.append(read(line))
            _ = try await takeLines()
        }
    }

    /// Stores what can be stored, and answers with a line for each line. Takes all of `lines`.
    private func results(
        of lines: inout [BatchLine], _ request: DoorRequest, _ traceID: String
    ) async -> [UInt8] {
        let batch = lines
        lines.removeAll(keepingCapacity: true)
        let commands = batch.compactMap { line in
            if case .command(let command, _, _) = line { command } else { nil }
        }
        var answers = commands.isEmpty ? [] : await relay.submit(commands)
        answers.reverse()
        var writer = LinesWriter()
        for line in batch {
            let result: BatchResult
            switch line {
            case .problem(let problem, let id, let number):
                result = .refused(id: id, line: number, problem)
            case .command(let command, let id, let number):
                let answer = answers.popLast() ?? .refused(Refusal(.stopping, "The relay stops."))
                result = await self.result(answer, command, id, number)
            }
            writer.write(result, traceID: traceID)
            if case .refused(_, _, let problem) = result {
                note(problem, request, traceID: traceID)
            }
        }
        return writer.bytes
    }

    private func result(
        _ answer: Answer, _ command: Command, _ id: String?, _ line: Int
    ) async -> BatchResult {
        do {
            return .accepted(id: id, try await self.answer(answer, to: command))
        } catch {
            return .refused(id: id, line: line, error)
        }
    }
}

/// Objects, a line each.
struct LinesWriter {
    private(set) var bytes: [UInt8] = []

    mutating func write(_ result: BatchResult, traceID: String? = nil) {
        var writer = JSONWriter(capacity: 128)
        result.write(to: &writer, traceID: traceID)
        bytes += writer.bytes
        bytes.append(UInt8(ascii: "\n"))
    }
}
