import Simulation

// A first look.
var arguments = CommandLine.arguments.dropFirst()
let from = arguments.popFirst().flatMap { UInt64($0) } ?? 1
let count = arguments.popFirst().flatMap { UInt64($0) } ?? 1
for seed in from..<from + count {
    var run = SeedRun(seed: seed)
    run.keepsHistory = count == 1
    let verdict = run.run()
    if count == 1 { print(verdict.history.joined(separator: "\n")) }
    if !verdict.isGood || count == 1 {
        print("seed \(seed) faults \(verdict.faults) jobs \(verdict.jobs) steps \(verdict.steps)")
        print(
            "  virtual \(verdict.virtualSeconds) s escapes \(verdict.escapes) hash \(verdict.hash)")
        for violation in verdict.violations.prefix(4) { print("  ", violation) }
    }
}
