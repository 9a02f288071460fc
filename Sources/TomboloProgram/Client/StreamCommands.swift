import TomboloJSON
import TomboloLoop

/// `append` and `tail`: commands that send or receive streams of lines.
enum StreamCommands {
    // MARK: append

    /// Sends lines and reads answers at the same time. Neither waits for the other before buffers
    /// are full.
    ///
    /// A request ends after a pause of the input, `requestTime` or `requestBytes`; the next lines
    /// begin a new one. A relay refuses a body that comes too slowly, and a proxy may pass nothing
    /// on before the body is whole. For the same reason the answers are not asked for line by line:
    /// nginx drops the rest of a body once an answer has begun.
    static func append(_ context: CommandContext) async throws -> ExitStatus {
        let input = try InputReader(context.invocation.argument(0), loop: context.loop)
        var client = try await RelayClient.connect(context)
        defer { client.close() }
        let lines = AppendLines(input, loop: context.loop)
        let progress = AppendProgress(context)
        if context.invocation.isGiven(.dryRun) {
            return try await tryOut(lines, client, context, progress)
        }
        do {
            while let first = try await lines.first() {
                if !client.isOpen { client = try await RelayClient.connect(context) }
                let stream = try await client.stream(request, hasBody: true)
                progress.beginRequest()
                try await exchange(first, lines, stream, context, progress)
            }
        } catch let error as ProgramError where error.status == .unreachable {
            progress.end()
            throw ProgramError(
                "\(error.cause) (\(progress.tally.answered) lines were answered before)",
                remedy: "send the rest again; a line with an id counts once", status: .unreachable)
        }
        return try finish(context, progress)
    }

    private static let request = RelayRequest("POST", "/v1/events", fields: ofLines)

    /// A request takes no further lines once it has this many bytes, or has lasted this long.
    /// nginx takes 1 MiB where its configuration does not say more. The last piece may exceed this
    /// by its own size.
    private static let requestBytes = (1 << 20) - 2 * InputReader.pieceBytes
    private static let requestTime = Duration.seconds(1)

    private static let ofLines = [(name: "content-type", value: "application/x-ndjson")]

    /// Sends all lines of a dry run in one request, as a line's effect depends on those before it.
    private static func tryOut(
        _ lines: AppendLines, _ client: RelayClient, _ context: CommandContext,
        _ progress: AppendProgress
    ) async throws -> ExitStatus {
        var body: [UInt8] = []
        while let piece = try await lines.first() { body += piece }
        let answer = try await client.send(
            .write(context, "POST", "/v1/events", fields: ofLines, body: body), name: nil)
        for line in answer.body.split(separator: 10) { _ = try progress.answered(line) }
        if OutputFormat(context, elsewhere: .jsonl) == .jsonl {
            try context.terminal.write(answer.body)
        }
        return try finish(context, progress)
    }

    private static func exchange(
        _ first: [UInt8], _ lines: AppendLines, _ stream: RelayStream, _ context: CommandContext,
        _ progress: AppendProgress
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await send(first, lines, to: stream, context.loop, progress) }
            do {
                try await readAnswers(stream, context, progress)
            } catch {
                // If reading the input failed, throw the input's error instead. That a refused
                // body was not taken to its end says nothing more.
                group.cancelAll()
                do {
                    try await group.waitForAll()
                } catch is CancellationError {
                } catch let broken as ProgramError where broken.status == .unreachable {}
                throw error
            }
            group.cancelAll()
            do {
                try await group.waitForAll()
            } catch is CancellationError {
                throw ProgramError(
                    "the relay ended its answer before the last line", status: .unreachable)
            }
        }
    }

    private static func send(
        _ first: [UInt8], _ lines: AppendLines, to stream: RelayStream, _ loop: EpollLoop,
        _ progress: AppendProgress
    ) async throws {
        let until = loop.now + requestTime
        var (next, bytes): ([UInt8]?, Int) = (first, 0)
        do {
            while let piece = next {
                progress.sent(piece)
                try await stream.write(piece)
                bytes += piece.count
                next = bytes < requestBytes && loop.now < until ? try await lines.more() : nil
            }
            stream.finish()
        } catch {
            stream.cancel()
            throw error
        }
    }

    private static func readAnswers(
        _ stream: RelayStream, _ context: CommandContext, _ progress: AppendProgress
    ) async throws {
        let printsLines = OutputFormat(context, elsewhere: .jsonl) == .jsonl
        var splitter = LineSplitter()
        while let piece = try await stream.next() {
            let lines = try splitter.lines(in: piece)
            let counted = try lines.filter { !$0.isEmpty }.map { try progress.answered($0) }
            if printsLines, !counted.isEmpty {
                try context.terminal.write(counted.joined(separator: [10]) + [10])
            }
        }
    }

    private static func finish(
        _ context: CommandContext, _ progress: AppendProgress
    ) throws -> ExitStatus {
        progress.end()
        let tally = progress.tally
        for refusal in tally.refusals { context.terminal.complain("tombolo: \(refusal)\n") }
        let untold = tally.refused - tally.refusals.count
        if untold > 0 { context.terminal.complain("tombolo: and \(untold) more refused\n") }
        switch OutputFormat(context, elsewhere: .jsonl) {
        case .table:
            let would = context.invocation.isGiven(.dryRun) ? "would be " : ""
            try context.terminal.print(
                "\(tally.taken) \(would)taken, \(tally.refused) \(would)refused")
        case .json: try context.terminal.write(line: tally.json)
        case .jsonl: break
        }
        return tally.refused > 0 ? .partly : .succeeded
    }

    // MARK: tail

    /// Prints events until it is stopped. If the relay goes away, reconnects and continues after
    /// the last printed event.
    static func tail(_ context: CommandContext) async throws -> ExitStatus {
        var tail = Tail(context)
        try await tail.run()
        return .succeeded
    }
}

/// One `tail`: its position in the log, and how long it waits for the relay.
private struct Tail {
    private let context: CommandContext
    /// Cursor of the last printed line, where a new connection continues; nil before the first.
    private var cursor: String?
    private var left: Int

    /// If the relay is away for longer, the command fails.
    static let patience = Duration.seconds(30)

    init(_ context: CommandContext) {
        self.context = context
        cursor = context.invocation.text(.cursor)
        left = context.invocation.integer(.limit) ?? .max
    }

    mutating func run() async throws {
        var giveUpAt: MonotonicInstant?
        var pause = Duration.milliseconds(100)
        while left > 0 {
            do {
                let client = try await RelayClient.connect(context)
                defer { client.close() }
                let stream = try await client.stream(request, hasBody: false)
                // Without a cursor the tail starts at the end of the log; the answer tells where
                // that is.
                let start = try await stream.field("tombolo-cursor")
                cursor = cursor ?? start
                giveUpAt = context.loop.now + Self.patience
                pause = .milliseconds(100)
                try await read(stream)
            } catch let error as ProgramError where error.status == .unreachable {
                // If the first connection fails, the command fails at once.
                guard let giveUpAt, context.loop.now < giveUpAt else { throw error }
            }
            if left > 0 { try await context.loop.sleep(for: pause) }
            pause = min(pause * 2, .seconds(5))
        }
    }

    private var request: RelayRequest {
        let invocation = context.invocation
        let path = PathText.query(
            "/v1/tail",
            [
                ("cursor", cursor),
                ("since", cursor == nil ? invocation.integer(.since).map(String.init) : nil),
                ("kind", invocation.isGiven(.facts) ? "fact" : invocation.text(.tailKind)),
                ("fact", invocation.text(.fact)), ("result", invocation.text(.result)),
                ("activity", invocation.text(.ofActivity)),
                ("type", invocation.text(.onlyType)), ("device", invocation.text(.ofDevice)),
                ("user", invocation.text(.ofUser)),
            ])
        return RelayRequest("GET", path, fields: [("accept", "application/x-ndjson")])
    }

    private mutating func read(_ stream: RelayStream) async throws {
        var splitter = LineSplitter()
        while left > 0, let piece = try await stream.next() {
            // Skip empty lines, which are heartbeats.
            for line in try splitter.lines(in: piece) where !line.isEmpty && left > 0 {
                try print(line)
            }
        }
    }

    private mutating func print(_ line: ArraySlice<UInt8>) throws(ProgramError) {
        // Skip a line that is not JSON. The cursor stays.
        guard let view = try? JSONDocument(Array(line)).root,
            let position = view["cursor"]?.string
        else { return }
        cursor = position
        let isGap = view["kind"]?.string == "left_out"
        if isGap || view["damaged"]?.bool == true && view["do"] == nil {
            let what = "\(view["count"]?.integer ?? 0) \(view["of"]?.string ?? "row")s are left out"
            context.terminal.complain("tombolo: \(view["detail"]?.string ?? what)\n")
            if OutputFormat(context, elsewhere: .jsonl) == .table { return }
            return try context.terminal.write(line + [10])
        }
        left -= 1
        guard OutputFormat(context, elsewhere: .jsonl) == .table else {
            try context.terminal.write(line + [10])
            return
        }
        try context.terminal.print(Self.row(view))
    }

    /// Returns one line for people.
    private static func row(_ view: JSONView) -> String {
        func text(_ name: String) -> String? { view[name].map(Cell.text) }
        let version = text("version").map { "version \($0)" }
        let isCommand = view["do"] != nil
        var words = ["seq", "recorded_at", isCommand ? "do" : "fact", "activity"].map(text)
        // Who sent a command is left out.
        words += isCommand ? [version] : [text("device"), version]
        if !isCommand {
            words += ["reason", "link", "intent"].map(text)
            words.append(view["body"]?["by"].map { "by the \(Cell.text($0))" })
        }
        return words.compactMap { $0 }.joined(separator: "  ")
    }
}
