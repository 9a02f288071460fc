import TomboloAPI
import TomboloCore
import TomboloHTTP
import TomboloJSON
import TomboloRelay

extension ServerDoors {
    /// `POST /v1/events`: reads lines and answers each one, in bounded memory. A single CloudEvent
    /// is handled like a request with one event.
    func appendEvents(_ request: DoorRequest) async throws(Problem) -> DoorResponse? {
        let form = try request.eventForm()
        if !form.isBatch { return try await appendCloudEvent(request, form) }
        try request.refuseConditions()
        if try request.isDryRun { return try await dryRunLines(request, form) }
        if try request.flag("atomic") { return try await appendAtomically(request, form) }
        var refused = RefusedLines()
        do {
            try await appendLines(request, form, &refused)
            request.exchange.finish()
        } catch {
            // The client is gone or does not read. Its stored lines stay in the log.
        }
        await keep(refused, request)
        return nil
    }

    /// Reads a piece, stores its lines, answers them, and only then reads on.
    private func appendLines(
        _ request: DoorRequest, _ form: EventForm, _ refused: inout RefusedLines
    ) async throws(HTTPExchangeError) {
        let lineBytesMax = configuration.bodyBytesMax
        var splitter = LineSplitter(lineBytesMax: lineBytesMax, form: form)
        var lines: [BatchLine] = []
        var places: [[UInt8]: Int] = [:]
        let (read, traceID) = (lineReader(of: request, form), traceID(of: request.head))
        var output = BatchOutput(self, request)
        /// Writes the last line of an answer; after it nothing is stored or read.
        func end(_ problem: Problem, line: Int) async throws(HTTPExchangeError) {
            var writer = LinesWriter()
            writer.write(.refused(id: nil, line: line, problem), traceID: traceID)
            note(problem, request, traceID: traceID)
            refused.note(problem, line: line, of: nil)
            try await output.end(writer.bytes)
        }
        func takeLines() async throws(HTTPExchangeError) -> Bool {
            do throws(Problem) {
                try request.checkKey()
                try refused.endIfIdle()
            } catch {
                try await end(error, line: lines.first?.number ?? splitter.linesRead)
                return false
            }
            refused.beginBlock()
            try await output.write(await results(of: &lines, &places, &refused, request, traceID))
            // Nothing was stored, so nothing has let others go.
            if !refused.hasAccepted { await relay.letOthersGo(request.principal?.keyID ?? "") }
            return true
        }
        if request.prefersLines { try await output.begin() }
        while true {
            let piece: [UInt8]?
            do { piece = try await request.exchange.nextPiece() } catch {
                // Complete lines are stored; the part of a line that broke off is not.
                let problem = Problem(error, bytesMax: lineBytesMax)
                return try await end(problem, line: splitter.linesRead + 1)
            }
            guard let piece else { break }
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
            guard try await takeLines() else { return }
        }
        try await output.begin()
    }

    /// Reads the lines of a request's batch. What all lines share is found once.
    func lineReader(
        of request: DoorRequest, _ form: EventForm
    ) -> (LineSplitter.Line) -> BatchLine {
        let (tenant, key, trace) = (request.tenant, request.asking, request.trace)
        let lineBytesMax = configuration.bodyBytesMax
        return {
            BatchLine(
                $0, tenant: tenant, lineBytesMax: lineBytesMax, form: form, key: key, trace: trace)
        }
    }

    /// Stores the valid lines, and answers every line. Empties `lines`.
    ///
    /// A line with the key of an earlier line is a replay: it waits until that line is stored.
    ///
    /// - Parameter places: the first line of each key.
    private func results(
        of lines: inout [BatchLine], _ places: inout [[UInt8]: Int],
        _ refused: inout RefusedLines, _ request: DoorRequest, _ traceID: String
    ) async -> [UInt8] {
        let batch = lines
        lines.removeAll(keepingCapacity: true)
        var writer = LinesWriter()
        var next = batch[...]
        while !next.isEmpty {
            var ids: Set<[UInt8]> = []
            let piece = next.prefix { line in
                line.key.map { ids.insert(Array($0.utf8)).inserted } ?? true
            }
            next = next.dropFirst(piece.count)
            for (line, result) in zip(piece, await results(of: Array(piece), request)) {
                var result = result
                if let key = line.key {
                    let place = Array(key.utf8)
                    if let before = places[place], case .refused(_, _, let problem) = result,
                        problem.code == .idempotencyKeyReused
                    {
                        result = .refused(
                            id: line.id, line: line.number,
                            .reused(in: [before, line.number]))
                    }
                    if places.count < Self.idsKeptMax {
                        places[place] = places[place] ?? line.number
                    }
                }
                let isShort = refused.take(result, isCommand: line.isCommand)
                writer.write(result, traceID: traceID, isShort: isShort)
                if case .refused(_, let number, let problem) = result {
                    note(problem, request, traceID: traceID)
                    refused.note(problem, line: number, of: line.activity)
                }
            }
        }
        return writer.bytes
    }

    /// Most keys whose first line is remembered: about half a mebibyte.
    private static let idsKeptMax = 4_096

    /// Stores lines whose ids are all different.
    private func results(of batch: [BatchLine], _ request: DoorRequest) async -> [BatchResult] {
        let commands = batch.compactMap { line in
            if case .command(let command, _, _) = line { command } else { nil }
        }
        var answers = (commands.isEmpty ? [] : await relay.submit(commands))[...]
        var results: [BatchResult] = []
        results.reserveCapacity(batch.count)
        // What the lines share is found once.
        let log = await relay.logID(of: request.tenant)
        var stored = 0
        for line in batch {
            switch line {
            case .problem(let problem, let id, let number):
                results.append(.refused(id: id, line: number, problem))
            case .command(let command, let id, let number):
                let answer = answers.popFirst() ?? .refused(Refusal(.stopping, "The relay stops."))
                if case .accepted(let accepted) = answer {
                    if accepted.changed { stored += 1 }
                    results.append(.accepted(id: id, CommandAnswer(accepted, in: log)))
                    continue
                }
                do throws(Problem) {
                    results.append(.accepted(id: id, try await self.answer(answer, to: command)))
                } catch {
                    results.append(.refused(id: id, line: number, error))
                }
            }
        }
        countEvents(stored, by: request.asking, of: request.tenant)
        return results
    }
}

/// Writes JSON objects, one per line.
struct LinesWriter {
    private var writer = JSONWriter()

    var bytes: [UInt8] { writer.bytes }

    /// A complete answer with the lines.
    var response: DoorResponse {
        DoorResponse(status: 200, fields: ["content-type": "application/x-ndjson"], body: bytes)
    }

    mutating func write(_ result: BatchResult, traceID: String? = nil, isShort: Bool = false) {
        result.write(to: &writer, traceID: traceID, isShort: isShort)
        writer.endLine()
    }
}

/// The output of a batch's answers. They wait for the end of the body as long as there is room,
/// because a proxy stops reading the body once there is an answer. A client that reads while it
/// sends gets them at once (`Prefer: lines`).
private struct BatchOutput {
    private let doors: ServerDoors
    private let request: DoorRequest
    private var hasBegun = false

    init(_ doors: ServerDoors, _ request: DoorRequest) {
        (self.doors, self.request) = (doors, request)
    }

    mutating func write(_ bytes: [UInt8]) async throws(HTTPExchangeError) {
        if !hasBegun {
            if request.exchange.keep(bytes) { return }
            try await begin()
        }
        try await request.exchange.write(bytes)
    }

    /// Writes the last line. If no line was written before, sends a complete answer, because a
    /// stream is cut after an incomplete body.
    mutating func end(_ bytes: [UInt8]) async throws(HTTPExchangeError) {
        guard !hasBegun else { return try await request.exchange.write(bytes) }
        hasBegun = true
        doors.respond(request, DoorResponse(status: 200, fields: Self.fields, body: kept() + bytes))
    }

    private func kept() -> [UInt8] { request.exchange.takeKept() }

    // Keeps a proxy from buffering the answer, which the producer waits for.
    private static let fields: HTTPFields = [
        "content-type": "application/x-ndjson", "x-accel-buffering": "no",
    ]

    /// Starts to write answers at once.
    mutating func begin() async throws(HTTPExchangeError) {
        guard !hasBegun else { return }
        hasBegun = true
        let kept = kept()
        doors.begin(request, Self.fields)
        if !kept.isEmpty { try await request.exchange.write(kept) }
    }
}
