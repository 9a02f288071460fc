import CoreRig
import Glibc
import TomboloCore

// histories [--trace|--unordered] [COUNT [FROM]]
//
// Lives so many random histories of the core on virtual time, and checks the pacing rules of each:
// trailing values, timestamps, ends, grants, starts and the books. The last line on stdout is JSON;
// each history that broke a rule is told before it by its seed. `--trace` adds a hash of all
// pushes, answers, records and facts, to compare two builds by (deploy/same). `--unordered` takes
// them as sets, and prints a hash of each history by its seed: for builds that order what one step
// brings in another way.

var arguments = Array(CommandLine.arguments.dropFirst())
let isUnordered = arguments.first == "--unordered"
let traces = arguments.first == "--trace"
if traces || isUnordered { arguments.removeFirst() }
let numbers = arguments.compactMap { UInt64($0) }
guard numbers.count == arguments.count, numbers.count <= 2 else {
    print("histories: takes --trace or --unordered, then COUNT and FROM, two whole numbers")
    exit(2)
}
let count = numbers.first ?? 10_000
let from = numbers.count > 1 ? numbers[1] : 0

var (violations, pushes) = (0, 0)
var trace = StableHash()
for seed in from..<from + count {
    var history = RandomHistory(seed: seed)
    history.rig.isUnordered = isUnordered
    history.run(steps: 40)
    for fault in history.check() {
        violations += 1
        print(fault)
    }
    pushes += history.rig.pushes.count
    if isUnordered { print("\(seed) \(String(history.rig.trace, radix: 16))") }
    if traces { trace.combine("\(history.rig.trace)".utf8) }
}
let cpu = Double(clock()) / 1e6  // POSIX: CLOCKS_PER_SEC is a million.
print(
    "{\"histories\":\(count),\"from\":\(from),\"pushes\":\(pushes),"
        + "\"violations\":\(violations),"
        + (traces ? "\"trace\":\"\(String(trace.value, radix: 16))\"," : "")
        + "\"cpu_s\":\((cpu * 100).rounded() / 100)}")
exit(violations == 0 ? 0 : 1)
