import Simulation
import Testing

/// The simulation itself: that it is exact, that it finds mutants, and that it shrinks.
/// Many seeds are `deploy/simulate`'s work.
@Suite struct SimulationTests {
    @Test func `forty seeds break no promise, and nothing leaves the virtual loop`() {
        for seed in UInt64(1)...40 {
            let verdict = SeedRun(seed: seed).run()
            #expect(verdict.violations.isEmpty, "seed \(seed)")
            #expect(verdict.escapes == 0, "seed \(seed)")
        }
    }

    /// Each has found something: the world may have changed since, the relay must not change back.
    @Test(
        arguments: [
            UInt64(513_215_929), 513_237_323, 513_242_721, 513_252_490, 900_007_278, 900_028_449,
            940_028_829, 980_000_446, 770_000_068, 881_213_363, 912_310_814, 881_205_975,
            1_449, 373_191_929_475, 373_191_932_007, 381_482_188_671,
            382_954_871_806, 383_623_593_821, 383_633_594_135,
            384_354_506_836, 179_538_934_643, 393_293_884_663, 393_293_900_362, 5_493,
            393_840_458_397, 394_364_025_787,
            62_894, 71_213, 62_404, 31_029,
        ])
    func `a seed that once broke a promise breaks none`(seed: UInt64) {
        #expect(SeedRun(seed: seed).run().violations.isEmpty)
    }

    @Test(arguments: [UInt64(3), 8, 21])
    func `a seed runs the same a second time, step by step`(seed: UInt64) {
        var run = SeedRun(seed: seed)
        let first = run.run()
        run.keepsHistory = true
        let second = run.run()
        #expect(first.hash == second.hash)
        #expect(first.jobs == second.jobs)
        #expect(second.history.count == second.steps)
    }

    @Test func `another seed is another history`() {
        #expect(SeedRun(seed: 1).run().hash != SeedRun(seed: 2).run().hash)
    }

    @Test(arguments: [Mutant.acknowledgeBeforeCommit, .oldStateResent, .tenantLeftOut])
    func `a mutant is found`(mutant: Mutant) {
        let found = (UInt64(1)...40).contains { seed in
            var run = SeedRun(seed: seed)
            run.mutant = mutant
            return run.run().violations.contains(where: mutant.isFound)
        }
        #expect(found)
    }

    @Test func `a failure shrinks to the faults that it takes, and stays the same failure`() throws
    {
        var run = SeedRun(seed: 1)
        run.mutant = .acknowledgeBeforeCommit
        let whole = run.run()
        let promise = try #require(whole.violations.first?.promise)
        run.faults = run.shrunk()
        let shrunk = run.run()
        #expect(shrunk.violations.contains { $0.promise == promise })
        #expect(shrunk.faults.list.count < whole.faults.list.count || whole.faults.list.isEmpty)
        #expect(shrunk.faults.isSubset(of: whole.faults))
    }

    @Test func `names of faults are read as they are written`() {
        for fault in Fault.allCases {
            #expect(FaultSet(names: fault.name) == FaultSet(fault))
        }
        let all = FaultSet(names: Fault.allCases.map(\.name).joined(separator: ","))
        #expect(all?.list == Fault.allCases)
        #expect(FaultSet(names: "crashes,earthquake") == nil)
    }
}
