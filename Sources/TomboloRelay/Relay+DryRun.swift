package import TomboloCore
import TomboloEventLog

// Dry runs. They read the core and change nothing in it.

extension Relay {
    /// The effect that a command would have now. Stores nothing.
    package func dryRun(_ command: Command) async -> Result<DryRun, Refusal> {
        guard let answer = await dryRunAll([command]).first else {
            preconditionFailure("a command has an answer")
        }
        return answer
    }

    /// The same for several commands. Each is tried alone, after the effects of those before.
    package func dryRunAll(_ commands: [Command]) async -> [Result<DryRun, Refusal>] {
        let missing = Set(commands.map(\.activity)).filter({ core.mayHaveRetired($0) })
        var last: [ActivityKey: PositionedHead] = [:]
        if !missing.isEmpty {
            // If the log cannot be read, retired activities are treated as unknown.
            for found in (try? await log.retired(named: Array(missing))) ?? [] {
                guard let stored = DecodedHead(found.value, version: found.version) else {
                    continue
                }
                last[stored.key] = PositionedHead(found)
            }
        }
        // All commands share one trial copy, so that each sees the effects of those before it.
        var trial = core.trial()
        var runs: [Result<DryRun, Refusal>] = []
        for first in stride(from: 0, to: commands.count, by: Self.dryRunPieceMax) {
            if first > 0 { await letOthersGo() }
            let piece = commands[first..<min(commands.count, first + Self.dryRunPieceMax)]
            runs += core.dryRunAll(piece, on: &trial, remembered: last, now: steadyNow())
        }
        return runs
    }

    /// Number of commands tried in one turn. Each may start an activity on a thousand devices.
    private static let dryRunPieceMax = 4

    /// The activities that an `EndMany` would end. Examines them in pieces.
    package func dryRunEnds(
        _ request: EndMany
    ) async -> Result<[(activity: Identifier, version: Int64)], Refusal> {
        var request = request
        var all: [(activity: Identifier, version: Int64)] = []
        var place = 0
        while let places = await nextPiece(of: request, from: place) {
            (request.places, place) = (places, places.upperBound)
            switch attempt({ (core, now) throws(Refusal) in
                try core.dryRunEnds(request, now: now)
            }) {
            case .success(let ended): all += ended
            case .failure(let refusal): if all.isEmpty { return .failure(refusal) }
            }
        }
        return .success(all)
    }

    /// The result of a retry of dead letters.
    package func dryRunDeadLetters(_ query: DeadLetterQuery) async -> Result<Stored, Refusal> {
        var all = Stored(.updated)
        for serials in core.pieces(of: query) {
            if all.count + all.unreachable > 0 { await letOthersGo() }
            var piece = query
            piece.serials = serials
            switch attempt({ (core, _) throws(Refusal) in try core.dryRunDeadLetters(piece) }) {
            case .success(let stored): all.add(stored)
            case .failure(let refusal): return .failure(refusal)
            }
        }
        return .success(all)
    }

    /// The effect that an erasure would have, counted in the log; or why it would be refused.
    package func wouldErase(_ erasure: ErasureSubject) async -> ErasureAnswer {
        if let refusal = await refusal(of: erasure) { return .refused(refusal) }
        var trial: LogErasure
        switch erasure {
        case .device(let key): trial = LogErasure(.device(key.id), of: key.tenant)
        case .activity(let key, _):
            guard let view = await activity(key) else { return .refused(Self.stillness) }
            trial = LogErasure(.activity(view.number), of: key.tenant)
        }
        trial.isTrial = true
        do throws(EventLogError) { return .erased(try await log.erase(trial)) } catch {
            return .failed(error)
        }
    }

    /// Why an erasure would be refused; nil if it would not be.
    private func refusal(of erasure: ErasureSubject) async -> Refusal? {
        if case .activity(let key, _) = erasure, core.mayHaveRetired(key) {
            // A retired activity has ended, so it may be erased.
            guard let found = try? await log.retired(named: [key]) else { return Self.stillness }
            if !found.isEmpty { return nil }
        }
        do throws(Refusal) { try core.dryRunErasure(erasure) } catch { return error }
        return nil
    }
}
