import Glibc
import TestSupport
import Testing
import TomboloEventLog

/// How many seeds each of four shards runs; `deploy/test` and CI may ask for more.
private let seeds = getenv("TOMBOLO_POWER_LOSS_SEEDS").flatMap { Int(String(cString: $0)) } ?? 100

/// Three lives on one disk, each ended by a loss of power at any operation of opening,
/// appending, checkpointing, retiring, erasing, cutting history or closing. What is wrong
/// afterwards, empty on a good log; and what it came by.
private func run(
    seed: UInt64, lies: Bool = false
) async throws -> (wrong: [String], tally: DiskRun.Tally) {
    var chance = SplitMix64(seed: seed)
    var run = DiskRun(seed: seed)
    run.disk.liesAboutSync = lies
    for life in 1...3 {
        let operationsMax: UInt64 = life == 1 ? 60 : 250
        run.disk.plan(.powerLoss, after: 1 + Int(chance.next(below: operationsMax)))
        let error = await run.live(groups: 200)
        #expect(error != nil, "the power did fail")
        run.disk.restorePower()
        let wrong = try await run.differences()
        if !wrong.isEmpty { return (["life \(life)"] + wrong, run.tally) }
    }
    return ([], run.tally)
}

@Test(arguments: 0..<4)
func `power lost at any write loses nothing that was acknowledged`(shard: Int) async throws {
    var tally = DiskRun.Tally()
    for index in 1...seeds {
        let seed = UInt64(shard * 1_000_000 + index)
        let (wrong, its) = try await run(seed: seed)
        #expect(wrong.isEmpty, "seed \(seed)")
        tally = tally + its
    }
    for count in [
        tally.erasures, tally.erasuresCut, tally.retirements, tally.retentions, tally.headsBehind,
    ] {
        #expect(count > 0, "\(tally): something was never done")
    }
}

@Test func `a disk that lies about its syncs is found out`() async throws {
    var found = 0
    for seed in UInt64(1)...50 {
        // A file that lost its beginning does not open at all.
        let wrong = (try? await run(seed: seed, lies: true))?.wrong ?? ["it does not open"]
        if !wrong.isEmpty { found += 1 }
    }
    #expect(found > 25, "\(found) of 50")
}

@Test func `an I/O error at any operation ends the log, and what was acknowledged is there`()
    async throws
{
    for operation in 1...400 {
        var run = DiskRun(seed: 7)
        run.disk.plan(.inputOutputError, after: operation)
        let error = await run.live(groups: 60)
        switch error {
        case nil, .outcomeUnknown, .unusable: break
        default: Issue.record("operation \(operation): \(String(describing: error))")
        }
        let wrong = try await run.differences()
        #expect(wrong.isEmpty, "operation \(operation)")
    }
}

@Test func `a full disk refuses whole batches, and takes them again when there is room`()
    async throws
{
    var refused = 0
    for extra in 0..<150 {
        var run = DiskRun(seed: 11)
        #expect(await run.live(groups: 5) == nil)
        run.disk.bytesMax = 60_000 + extra * 509
        let error = await run.live(groups: 60)
        switch error {
        case .full(let hint):
            #expect(hint.hasPrefix("free some space"))
            refused += 1
        case .unusable(_, let hint):
            #expect(hint.hasPrefix("free some space"))
        default: Issue.record("\(extra): \(String(describing: error))")
        }
        run.disk.bytesMax = nil
        let wrong = try await run.differences()
        #expect(wrong.isEmpty, "\(extra)")
        #expect(await run.live(groups: 5) == nil)
        #expect(try await run.differences().isEmpty)
    }
    #expect(refused > 100)
}
