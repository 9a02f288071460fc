import Glibc
import Simulation
import TomboloJSON

// simulate [--seeds N] [--from SEED] [--planted NAME|all] [--hashes FILE] [--faults A,B]
// [--history]
//
// Runs seeds one after the other. The last line on stdout is JSON; what fails is told before it,
// with all that it takes to run it again.

guard let options = Options(CommandLine.arguments.dropFirst()) else { exit(2) }
let hashes = HashFile(options.hashes)
var campaign = Campaign(options)
campaign.runSeeds(hashes)
campaign.runMutants()
hashes.close()
print(campaign.summary)
exit(campaign.isGood ? 0 : 1)
