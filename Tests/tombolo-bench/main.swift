import Glibc
import TomboloProgram

exit(Program(.bench).run(Array(CommandLine.arguments.dropFirst())).rawValue)
