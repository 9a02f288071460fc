import TestSupport
import TomboloLoop

/// One seed's world, run once.
package struct SeedRun {
    package var seed: UInt64
    /// Nil: as the seed draws them.
    package var faults: FaultSet?
    package var mutant: Mutant?
    /// Keeps the last steps in words.
    package var keepsHistory = false

    /// So many jobs are more than any world needs: one that runs on has lost its way.
    package static let jobsMax = 3_000_000

    package init(seed: UInt64) { self.seed = seed }

    /// What came of a run.
    package struct Verdict: Sendable {
        package var seed: UInt64
        package var faults: FaultSet
        package var violations: [Violation]
        package var escapes: Int
        /// Over everything that happened: equal in every process.
        package var hash: UInt64
        package var virtualSeconds: Double
        package var jobs: Int
        package var steps: Int
        /// The steps, oldest first; empty unless they were kept.
        package var history: [String]

        /// The steps that led to the first violation, at most `count`.
        package func lastSteps(_ count: Int) -> ArraySlice<String> {
            let end = history.firstIndex { $0.contains("  violation  ") } ?? history.count - 1
            return history[...min(end, history.count - 1)].suffix(count)
        }

        package var isGood: Bool { violations.isEmpty && escapes == 0 }
    }

    /// Runs it on the calling thread.
    package func run() -> Verdict {
        let world = World(seed: seed, faults: faults, mutant: mutant)
        world.history.keepsAll = keepsHistory
        world.seam.begin()
        let end = world.loop.run(until: world.plan.longest, jobsMax: Self.jobsMax) {
            await world.run()
        }
        if end != .finished { world.violated(.progress, "\(end)") }
        var history = world.history
        history.mix(UInt64(world.loop.jobsRun))
        defer { world.close() }
        return Verdict(
            seed: seed, faults: world.faults, violations: world.violations,
            escapes: world.loop.escapes, hash: history.hash,
            virtualSeconds: world.seconds, jobs: world.loop.jobsRun, steps: history.count,
            history: history.lines())
    }

    /// The same failure with as few faults as it takes: switches one off after the other.
    package func shrunk() -> FaultSet {
        var run = self
        run.keepsHistory = false
        let first = run.run()
        guard let promise = first.violations.first?.promise else { return first.faults }
        var faults = first.faults
        for fault in faults.list {
            run.faults = faults.subtracting(FaultSet(fault))
            if run.run().violations.contains(where: { $0.promise == promise }) {
                faults = run.faults ?? faults
            }
        }
        return faults
    }
}
