import Glibc
import TomboloJSON
import TomboloLog
import TomboloServer

/// `log export` and `log import`: copy a whole log as lines.
enum LogTransferCommands {
    /// Maximum length of a line in bytes. A body may have 64 KiB, and escapes make it at most six
    /// times longer.
    private static let lineBytesMax = 1 << 20

    static func export(_ context: CommandContext) async throws -> ExitStatus {
        let home = try LogHome(context, "log export --data DIR >log.ndjson")
        try home.requireFile()
        var lines: [UInt8] = []
        try LogExport(home.reading()).run { item in
            lines += LogItemLine.text(item)
            guard lines.count >= 64 << 10 else { return }
            try context.terminal.write(lines)
            lines.removeAll(keepingCapacity: true)
        }
        try context.terminal.write(lines)
        return .succeeded
    }

    static func importLog(_ context: CommandContext) async throws -> ExitStatus {
        let home = try LogHome(context, "log import --data DIR <log.ndjson")
        let file = context.invocation.arguments.first.flatMap { $0 == "-" ? nil : $0 }
        let descriptor = try file.map(open) ?? 0
        defer { if descriptor != 0 { close(descriptor) } }
        let into = try home.importing()
        let count = try importLines(from: descriptor, into)
        try into.finish()
        try context.terminal.print(context.printsTable ? "\(count) lines" : "{\"lines\":\(count)}")
        return .succeeded
    }

    /// Reads lines until the end. May block, because nothing else runs in this process.
    private static func importLines(from descriptor: Int32, _ into: LogImport) throws -> Int {
        var splitter = LineSplitter(bytesMax: lineBytesMax)
        var count = 0
        func importLine(_ line: ArraySlice<UInt8>) throws {
            count += 1
            guard !line.isEmpty else { return }
            do {
                try into.take(try LogItemLine.item(Array(line)))
            } catch let error as LogItemLine.Fault {
                throw ProgramError("line \(count): \(error.cause)")
            } catch let error as JSONError {
                throw ProgramError("line \(count): \(error)")
            }
        }
        var piece = [UInt8](repeating: 0, count: 256 << 10)
        while true {
            let got = read(descriptor, &piece, piece.count)
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { throw ProgramError("cannot read: \(SystemError(errno))") }
            guard got > 0 else { break }
            for line in try splitter.lines(in: Array(piece[..<got])) { try importLine(line) }
        }
        if !splitter.unfinished.isEmpty { try importLine(splitter.unfinished[...]) }
        return count
    }

    private static func open(_ path: String) throws(ProgramError) -> Int32 {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw ProgramError("\(path): \(SystemError(errno))", status: .notFoundOrConflict)
        }
        return descriptor
    }
}
