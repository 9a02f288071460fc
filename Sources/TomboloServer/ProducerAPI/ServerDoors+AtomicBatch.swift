import TomboloAPI
import TomboloCore
import TomboloRelay

extension ServerDoors {
    /// `POST /v1/events?atomic=true`: all lines are stored in one commit, or none is.
    func appendAtomically(
        _ request: DoorRequest, _ form: EventForm
    ) async throws(Problem) -> DoorResponse {
        let lines = try await lines(request, form)
        for case .problem(let problem, _, let number) in lines {
            throw problem.adding("line", number)
        }
        guard !lines.isEmpty else {
            throw Problem(.invalidJSON, "The batch is empty. Send one event a line.")
        }
        let (first, of) = await distinct(lines)
        for case .failure(let problem) in of { throw problem }
        let answer = await relay.submitAtomically(first.map(\.command))
        let answers: [CommandAnswer]
        switch answer {
        case .acceptedAll(let accepted):
            let log = await relay.logID(of: request.tenant)
            countEvents(accepted.count(where: \.changed), by: request.asking, of: request.tenant)
            answers = accepted.map { CommandAnswer($0, in: log) }
        case .replayAll(let seqs):
            var all: [CommandAnswer] = []
            for (line, seq) in zip(first, seqs) {
                do throws(Problem) {
                    all.append(try await self.answer(.replay(seq: seq), to: line.command))
                } catch {
                    throw error.adding("line", line.line)
                }
            }
            answers = all
        case .partlyThere(let there, let missing):
            let (there, missing) = (there.map { first[$0].line }, missing.map { first[$0].line })
            throw Problem(
                .batchPartlyThere,
                "Of the batch's lines \(Self.list(there)) are on record by their ids, and "
                    + "\(Self.list(missing)) are not; an atomic batch is all new, or was sent as it is "
                    + "before. Send the lines that are not on record, or give all lines new ids."
            ).adding("on_record", there).adding("not_on_record", missing)
        case .refusedBatch(let index, let refusal):
            var problem = Problem(refusal).adding("line", first[index].line)
            problem.activity = first[index].command.activity.id
            throw problem
        case .accepted, .replay, .stored, .refused: throw answer.fault(of: "an atomic batch")
        }
        var writer = LinesWriter()
        var seen: Set<Int> = []
        for (line, place) in zip(lines, of) {
            let place = try place.get()
            var own = answers[place]
            if !seen.insert(place).inserted { own.replayed = true }
            writer.write(.accepted(id: line.id, own))
        }
        return writer.response
    }

    private static func list(_ lines: [Int]) -> String {
        lines.map(String.init).joined(separator: ", ")
    }

    /// `POST /v1/events?dry_run=true`: what each line would do after the lines before it. Nothing
    /// is stored.
    func dryRunLines(
        _ request: DoorRequest, _ form: EventForm
    ) async throws(Problem) -> DoorResponse {
        let isAtomic = try request.flag("atomic")
        let lines =
            isAtomic
            ? try await lines(request, form)
            : try await lines(
                request, form, atMost: configuration.dryRunLinesMax,
                bytes: configuration.dryRunBytesMax)
        let (first, of) = await distinct(lines)
        let runs = await relay.dryRunAll(first.map(\.command))
        var (writer, refused) = (LinesWriter(), RefusedLines())
        for (place, line) in lines.enumerated() {
            if place > 0, place.isMultiple(of: configuration.atomicLinesMax) {
                await relay.letOthersGo()
            }
            switch line {
            case .problem(let problem, let id, let number):
                if isAtomic { throw problem.adding("line", number) }
                writer.write(.refused(id: id, line: number, problem))
                refused.note(problem, line: number, of: nil)
            case .command(_, let id, let number):
                do throws(Problem) {
                    let run = try of[place].get()
                    let tried = try runs[run].mapError { Problem($0) }.get()
                    let answer = DryRunAnswer(tried, mayObserve: request.mayObserve)
                    writer.write(.tried(id: id, answer))
                } catch {
                    if isAtomic { throw error.adding("line", number) }
                    writer.write(.refused(id: id, line: number, error))
                    refused.note(error, line: number, of: line.activity)
                }
            }
        }
        await keep(refused, request)
        return writer.response
    }

    /// The commands of the lines, without repeated ids: those are one event. `of` has for each line
    /// the index of its command, or its problem.
    private func distinct(
        _ lines: [BatchLine]
    ) async -> (first: [(command: Command, line: Int)], of: [Result<Int, Problem>]) {
        var (first, of) = ([(command: Command, line: Int)](), [Result<Int, Problem>]())
        var places: [[UInt8]: Int] = [:]
        var values: [Int: Command.BodyValue] = [:]
        var compared = 0
        for line in lines {
            guard case .command(let command, _, let number) = line else {
                of.append(.success(first.count))
                continue
            }
            let name = command.idempotency.map { Array($0.key.utf8) }
            if let name, let place = places[name] {
                compared += command.body.count
                if compared > Self.comparedBytesMax {
                    compared = 0
                    await relay.letOthersGo()
                }
                let isSame = first[place].command.isSame(as: command, &values[place])
                of.append(
                    isSame
                        ? .success(place) : .failure(.reused(in: [first[place].line, number])))
                continue
            }
            if let name { places[name] = first.count }
            of.append(.success(first.count))
            first.append((command, number))
        }
        return (first, of)
    }

    /// Bytes of bodies that are compared by value in one turn of the loop: about a millisecond.
    private static let comparedBytesMax = 32 << 10

    /// All lines of the body, including wrong ones.
    ///
    /// - Parameters:
    ///   - linesMax: most lines; nil: the limit of an atomic batch.
    ///   - bytesMax: most bytes; nil: the limit of an atomic batch.
    private func lines(
        _ request: DoorRequest, _ form: EventForm,
        atMost linesMax: Int? = nil, bytes bytesMax: Int? = nil
    ) async throws(Problem) -> [BatchLine] {
        let linesMax = linesMax ?? configuration.atomicLinesMax
        let bytesMax = bytesMax ?? configuration.atomicBytesMax
        let body = try await request.body(atMost: bytesMax)
        var splitter = LineSplitter(lineBytesMax: configuration.bodyBytesMax, form: form)
        var (lines, turn) = ([BatchLine](), BatchTurn())
        let read = lineReader(of: request, form)
        var rest = body[...]
        while let line = await nextLine(of: &splitter, &rest) {
            guard lines.count < linesMax else {
                throw Problem(
                    .bodyTooLarge,
                    "This batch has at most \(linesMax) lines: an atomic one "
                        + "\(configuration.atomicLinesMax), a dry run "
                        + "\(configuration.dryRunLinesMax). "
                        + "Send several, or leave the parameter away.")
            }
            if turn.isOver(line) { await relay.letOthersGo(request.principal?.keyID ?? "") }
            lines.append(read(line))
        }
        try request.checkKey()
        return lines
    }

    /// The next line. The body goes to the splitter piece by piece, so that others get the loop.
    private func nextLine(
        of splitter: inout LineSplitter, _ rest: inout ArraySlice<UInt8>
    ) async -> LineSplitter.Line? {
        while true {
            if let line = splitter.next() { return line }
            guard !rest.isEmpty else { return splitter.last() }
            splitter.append(Array(rest.prefix(Self.pieceBytes)))
            rest = rest.dropFirst(Self.pieceBytes)
            await relay.letOthersGo()
        }
    }

    private static let pieceBytes = 256 << 10
}

extension Problem {
    /// Two lines of a batch have the same id but different bodies.
    static func reused(in lines: [Int]) -> Problem {
        Problem(
            .idempotencyKeyReused,
            "lines \(lines.map(String.init).joined(separator: " and ")) have the same id and another "
                + "body; give each event an id of its own"
        ).adding("line", lines.last ?? 0)
    }
}

/// The lines of a batch that one turn of the loop may read: about a millisecond's work.
private struct BatchTurn {
    private static let (linesMax, bytesMax) = (10, 32 << 10)

    private var (lines, bytes) = (0, 0)

    /// True if the line belongs to the next turn, which then begins.
    mutating func isOver(_ line: LineSplitter.Line) -> Bool {
        if case .line(let text, _) = line { bytes += text.count }
        lines += 1
        guard lines > Self.linesMax || bytes > Self.bytesMax, lines > 1 else { return false }
        self = BatchTurn()
        return true
    }
}
