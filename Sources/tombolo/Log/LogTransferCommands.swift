import Glibc
import TomboloEventLog
import TomboloJSON
import TomboloSQLite

/// `log export` and `log import`: a whole log as lines.
enum LogTransferCommands {
    /// A line holds one body, escaped: 64 KiB become at most six times as much.
    private static let lineBytesMax = 1 << 20

    static func export(_ context: CommandContext) async throws -> ExitStatus {
        let data = try data(context, "log export --data DIR >log.ndjson")
        let path = data + "/tombolo.db"
        guard access(path, R_OK) == 0 else {
            throw ProgramError(
                "\(path): \(SystemError(errno))", remedy: "name the data directory of a relay",
                status: .notFoundOrConflict)
        }
        var lines: [UInt8] = []
        do {
            try LogExport(path: path).run { item in
                lines += LogItemLine.text(item)
                guard lines.count >= 64 << 10 else { return }
                try context.terminal.write(lines)
                lines.removeAll(keepingCapacity: true)
            }
            try context.terminal.write(lines)
        } catch let error as EventLogError {
            throw ProgramError(error)
        }
        return .succeeded
    }

    static func take(_ context: CommandContext) async throws -> ExitStatus {
        let data = try data(context, "log import --data DIR <log.ndjson")
        let file = context.invocation.arguments.first.flatMap { $0 == "-" ? nil : $0 }
        let descriptor = try file.map(open) ?? 0
        defer { if descriptor != 0 { close(descriptor) } }
        var chance = SystemRandomNumberGenerator()
        do {
            let into = try LogImport(directory: data, chance: &chance)
            let count = try take(from: descriptor, into)
            try into.finish()
            try report(context, count)
        } catch let error as EventLogError {
            throw ProgramError(error)
        }
        return .succeeded
    }

    /// Reads lines to the end. Blocks: nothing else runs in this process.
    private static func take(from descriptor: Int32, _ into: LogImport) throws -> Int {
        var splitter = LineSplitter(bytesMax: lineBytesMax)
        var count = 0
        func take(_ line: ArraySlice<UInt8>) throws {
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
            for line in try splitter.lines(in: Array(piece[..<got])) { try take(line) }
        }
        if !splitter.unfinished.isEmpty { try take(splitter.unfinished[...]) }
        return count
    }

    private static func open(_ path: String) throws(ProgramError) -> Int32 {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw ProgramError("\(path): \(SystemError(errno))", status: .notFoundOrConflict)
        }
        return descriptor
    }

    private static func data(_ context: CommandContext, _ line: String) throws -> String {
        guard let data = context.invocation.text(.data) else {
            throw ProgramError.usage(
                "\(context.invocation.commandName) needs --data", remedy: "tombolo \(line)")
        }
        return data
    }

    private static func report(_ context: CommandContext, _ count: Int) throws {
        if OutputFormat(context) == .table {
            return try context.terminal.print("\(count) lines")
        }
        try context.terminal.print("{\"lines\":\(count)}")
    }
}
