import Glibc
import Simulation

/// What the command line asks for.
struct Options {
    private(set) var seeds: UInt64 = 500
    private(set) var from: UInt64 = 1
    private(set) var mutants: [Mutant] = []
    private(set) var hashes: String?
    /// The file with the seeds that are known to break a promise.
    private(set) var known: String?
    /// The same file: its seeds may break the promise of their row.
    private(set) var except: String?
    private(set) var faults: FaultSet?
    private(set) var showsHistory = false

    /// Nil after a word on stderr, where something is not understood.
    init?(_ arguments: some Collection<String>) {
        var rest = Array(arguments)[...]
        while let name = rest.popFirst() {
            if name == "--history" {
                showsHistory = true
                continue
            }
            guard let value = rest.popFirst(), take(name, value) else {
                fputs("simulate: cannot use \(name)\n", stderrStream())
                return nil
            }
        }
    }

    private mutating func take(_ name: String, _ value: String) -> Bool {
        switch name {
        case "--seeds":
            guard let count = UInt64(value) else { return false }
            seeds = count
        case "--from":
            guard let seed = UInt64(value) else { return false }
            from = seed
        case "--planted":
            guard
                let named = value == "all" ? Mutant.allCases : Mutant(rawValue: value).map({ [$0] })
            else { return false }
            mutants = named
        case "--hashes": hashes = value
        case "--known": known = value
        case "--except": except = value
        case "--faults":
            guard let set = FaultSet(names: value) else { return false }
            faults = set
        default: return false
        }
        return true
    }
}

/// Standard error, which the C library keeps in a variable.
func stderrStream() -> UnsafeMutablePointer<FILE>? { fdopen(2, "w") }
