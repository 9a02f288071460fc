import Glibc
import TomboloProgram

exit(Program(.tombolo).run(Array(CommandLine.arguments.dropFirst())).rawValue)
