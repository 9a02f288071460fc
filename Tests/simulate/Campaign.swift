import Glibc
import Simulation
import TomboloJSON

/// Many seeds, one after the other, and what came of them.
struct Campaign {
    /// A mutant must be found within so many seeds.
    static let plantedSeedsMax: UInt64 = 300

    private let options: Options
    private var failed = 0
    private var escapes = 0
    private var longest = 0.0
    private var planted: [(mutant: Mutant, seeds: UInt64?)] = []

    init(_ options: Options) { self.options = options }

    var isGood: Bool {
        failed == 0 && escapes == 0 && planted.allSatisfy { $0.seeds != nil }
    }

    /// - Parameter excepted: a table of known seeds, each of which may break its promise.
    mutating func runSeeds(_ hashes: HashFile, excepted: String) {
        let known = Dictionary(
            Self.rows(of: excepted).map { ($0.seed, $0.cells.dropFirst().first) }
        ) { first, _ in first }
        for seed in options.from..<options.from + options.seeds {
            var run = SeedRun(seed: seed)
            run.faults = options.faults
            run.keepsHistory = options.showsHistory
            let verdict = run.run()
            hashes.write(verdict)
            longest = max(longest, verdict.virtualSeconds)
            escapes += verdict.escapes
            if options.showsHistory { print(verdict.history.joined(separator: "\n")) }
            guard !verdict.isGood else { continue }
            if let promise = known[seed], verdict.violations.first?.promise == promise {
                say("seed \(seed) breaks its promise, as KNOWN.md says")
                continue
            }
            failed += 1
            report(verdict)
        }
    }

    /// Plays the rows of a table of known seeds: each must still break its promise, or the row
    /// goes. A row is `| seed | promise | faults | …`; other lines are prose.
    mutating func runKnown(_ rows: String) {
        let rows = Self.rows(of: rows)
        for (seed, cells) in rows {
            guard cells.count >= 3, let faults = FaultSet(names: cells[2]) else {
                failed += 1
                say("FAILED: the row of seed \(seed) cannot be read: \(cells)")
                continue
            }
            var run = SeedRun(seed: seed)
            run.faults = faults
            let found = Set(run.run().violations.map(\.promise))
            guard !found.contains(cells[1]) else { continue }
            failed += 1
            say(
                "FAILED: seed \(seed) no longer breaks \"\(cells[1])\""
                    + (found.isEmpty ? "" : ", but \(found.sorted())")
                    + ": remove its row, or find another seed for it")
        }
        say("\(rows.count) known seeds were played")
    }

    private static func rows(of table: String) -> [(seed: UInt64, cells: [String])] {
        table.split(separator: "\n").compactMap { line in
            let cells = line.split(separator: "|").map { cell in
                String(cell.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
            }
            return cells.first.flatMap(UInt64.init).map { ($0, cells) }
        }
    }

    /// All that it takes to see the failure again. The first few are shrunk and told step by step.
    private func report(_ verdict: SeedRun.Verdict) {
        say("FAILED seed \(verdict.seed), \(BuildConfiguration.text), faults \(verdict.faults)")
        for violation in verdict.violations.prefix(3) { say("  \(violation)") }
        guard failed <= 3, !options.showsHistory else { return }
        var run = SeedRun(seed: verdict.seed)
        run.faults = verdict.faults
        run.faults = run.shrunk()
        run.keepsHistory = true
        let shrunk = run.run()
        print("  it fails so with the faults: \(shrunk.faults)")
        for line in shrunk.lastSteps(40) { print("    \(line)") }
        for violation in shrunk.violations.prefix(3) { print("  \(violation)") }
        print(
            "  again: deploy/simulate --seeds 1 --from \(verdict.seed) "
                + "--faults \(shrunk.faults) --history")
    }

    /// At once, also where standard output is a file.
    private func say(_ line: String) {
        print(line)
        fflush(nil)
    }

    mutating func runMutants() {
        for mutant in options.mutants {
            var found: UInt64?
            for count in 1...Self.plantedSeedsMax {
                var run = SeedRun(seed: options.from + count - 1)
                run.mutant = mutant
                let verdict = run.run()
                guard let violation = verdict.violations.first(where: mutant.isFound) else {
                    continue
                }
                // What the seed finds without it does not count.
                guard SeedRun(seed: verdict.seed).run().isGood else { continue }
                found = count
                say("\(mutant.rawValue): seed \(verdict.seed), after \(count): \(violation)")
                break
            }
            if found == nil { say("\(mutant.rawValue): NOT FOUND") }
            planted.append((mutant, found))
        }
    }

    /// One line of JSON. `differing` is for who compares two processes to fill in.
    var summary: String {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("seeds", Int64(options.seeds))
        writer.member("violations", Int64(failed))
        writer.member("escapes", Int64(escapes))
        writer.member("differing", Int64(0))
        writer.name("planted")
        writer.beginArray()
        for (mutant, seeds) in planted {
            writer.beginObject()
            writer.member("name", mutant.rawValue)
            writer.member("caught", seeds != nil)
            writer.member("seeds", Int64(seeds ?? Self.plantedSeedsMax))
            writer.endObject()
        }
        writer.endArray()
        writer.member("cpu_s", (Double(clock()) / Double(CLOCKS_PER_SEC) * 100).rounded() / 100)
        writer.member("longest_virtual_s", longest)
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

/// How this program was built.
enum BuildConfiguration {
    static var text: String {
        #if DEBUG
        let kind = "debug"
        #else
        let kind = "release"
        #endif
        // The program itself does not know which tree it was built from; `deploy/simulate` does.
        let commit = environment("TOMBOLO_COMMIT").map { "commit \($0)" }
        return "\(commit ?? "TOMBOLO_COMMIT not set"), \(kind) build"
    }

    private static func environment(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }
}

/// A line for each seed: what another process must have got too.
struct HashFile {
    private let file: UnsafeMutablePointer<FILE>?

    init(_ path: String?) { file = path.flatMap { fopen($0, "w") } }

    func write(_ verdict: SeedRun.Verdict) {
        guard let file else { return }
        fputs("\(verdict.seed) \(String(verdict.hash, radix: 16))\n", file)
    }

    func close() {
        if let file { fclose(file) }
    }
}
