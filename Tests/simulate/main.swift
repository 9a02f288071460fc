import Glibc
import Simulation
import TomboloJSON

// simulate [--seeds N] [--from SEED] [--planted NAME|all] [--hashes FILE] [--faults A,B]
// [--history] [--known FILE] [--except FILE]
//
// Runs seeds one after the other. The last line on stdout is JSON; what fails is told before it,
// with all that it takes to run it again.

guard let options = Options(CommandLine.arguments.dropFirst()) else { exit(2) }
let hashes = HashFile(options.hashes)
var campaign = Campaign(options)
/// The text of a file; empty for none.
func text(of path: String?) -> String {
    guard let path else { return "" }
    guard let file = fopen(path, "r") else {
        fputs("simulate: cannot read \(path)\n", stderrStream())
        exit(2)
    }
    var (rows, piece): ([UInt8], [UInt8]) = ([], [UInt8](repeating: 0, count: 65_536))
    while case let count = fread(&piece, 1, piece.count, file), count > 0 {
        rows += piece[..<count]
    }
    return String(decoding: rows, as: UTF8.self)
}

campaign.runSeeds(hashes, excepted: text(of: options.except))
campaign.runMutants()
if let path = options.known { campaign.runKnown(text(of: path)) }
hashes.close()
print(campaign.summary)
exit(campaign.isGood ? 0 : 1)
