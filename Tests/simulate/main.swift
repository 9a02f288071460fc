import Glibc
import Simulation
import TomboloJSON

// simulate [--seeds N] [--from SEED] [--planted NAME|all] [--hashes FILE] [--faults A,B]
// [--history] [--known FILE]
//
// Runs seeds one after the other. The last line on stdout is JSON; what fails is told before it,
// with all that it takes to run it again.

guard let options = Options(CommandLine.arguments.dropFirst()) else { exit(2) }
let hashes = HashFile(options.hashes)
var campaign = Campaign(options)
campaign.runSeeds(hashes)
campaign.runMutants()
if let path = options.known {
    guard let file = fopen(path, "r") else {
        fputs("simulate: cannot read \(path)\n", stderrStream())
        exit(2)
    }
    var rows = ""
    while let line = readLine(from: file) { rows += line }
    campaign.runKnown(rows)
}
hashes.close()
print(campaign.summary)
exit(campaign.isGood ? 0 : 1)
