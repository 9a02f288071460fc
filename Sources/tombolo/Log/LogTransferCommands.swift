import Glibc
import TomboloEventLog
import TomboloJSON
import TomboloLog
import TomboloSQLite
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
        do {
            try LogExport(home.reading()).run { item in
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

    static func importLog(_ context: CommandContext) async throws -> ExitStatus {
        let home = try LogHome(context, "log import --data DIR <log.ndjson")
        if let old = context.invocation.text(.fromData) {
            guard case .directory(let data) = home else {
                throw ProgramError.usage(
                    "--from-data makes a log in a data directory",
                    remedy: "import it there, export that, and import the lines into the database")
            }
            return try importOldLog(old, to: data, context)
        }
        let file = context.invocation.arguments.first.flatMap { $0 == "-" ? nil : $0 }
        let descriptor = try file.map(open) ?? 0
        defer { if descriptor != 0 { close(descriptor) } }
        do {
            let into = try home.importing()
            let count = try importLines(from: descriptor, into)
            try into.finish()
            try report(context, count, "lines")
        } catch let error as EventLogError {
            throw ProgramError(error)
        }
        return .succeeded
    }

    /// Imports the log of an older program, and copies the secret that its API keys need.
    private static func importOldLog(
        _ old: String, to data: String, _ context: CommandContext
    ) throws -> ExitStatus {
        guard context.invocation.arguments.isEmpty, !isSame(old, data) else {
            throw ProgramError.usage(
                "log import takes a file, or --from-data with another directory than --data",
                remedy: "tombolo log import --from-data \(data).old --data \(data)")
        }
        let bar = context.terminal.errorIsTerminal ? context.terminal : nil
        var chance = SystemRandomNumberGenerator()
        var count = 0
        var isOurPepper = false
        do {
            let reading = try SchemaFive(directory: old)
            let into = try LogImport(directory: data, chance: &chance)
            isOurPepper = try copyPepper(from: old, to: data)
            try reading.run { item in
                try into.take(item)
                count += 1
                if count.isMultiple(of: progressStep) { bar?.draw("\r\(count) items") }
            }
            try into.finish()
        } catch {
            // If the log was created, keep its secret even if a later step failed.
            if isOurPepper, access("\(data)/tombolo.db", F_OK) != 0 { unlink(pepper(data)) }
            throw (error as? EventLogError).map(ProgramError.init) ?? error
        }
        bar?.draw("\r")
        try report(context, count, "items")
        if !BackupCommands.hasPepper(old) { warn(ofPepper: old, data, context) }
        return .succeeded
    }

    /// True if both paths lead to the same directory, for example through a link.
    private static func isSame(_ old: String, _ data: String) -> Bool {
        var (first, second) = (stat(), stat())
        guard stat(old, &first) == 0, stat(data, &second) == 0 else { return old == data }
        return first.st_dev == second.st_dev && first.st_ino == second.st_ino
    }

    /// Warns that the API keys of the old log are not valid, because their secret is missing.
    private static func warn(ofPepper old: String, _ data: String, _ context: CommandContext) {
        let file = pepper(data)
        let hasOther = BackupCommands.hasPepper(data)
        let condition = hasOther ? ", unless \(file) is the one that it had" : ""
        let making = "(umask 077; head -c \(Pepper.byteCount) /dev/urandom >\(file)); "
        context.terminal.complain(
            "tombolo: \(old) has no file \(Pepper.fileName) of \(Pepper.byteCount) bytes: "
                + "no API key of it opens in \(data)\(condition)\n"
                + "  try: \(hasOther ? "" : making)tombolo key mint --scope all --data \(data)\n")
    }

    private static func pepper(_ directory: String) -> String { "\(directory)/\(Pepper.fileName)" }

    private static let progressStep = 10_000

    /// Copies the secret and returns true. Throws if this would replace a different secret. Does
    /// not copy a secret of the wrong length, and then returns false.
    private static func copyPepper(
        from old: String, to data: String
    ) throws(ProgramError) -> Bool {
        // If reading fails here, the copy below reports the reason.
        let files = [old, data].map { try? FileBytes.read(pepper($0)) }
        guard files[0] != files[1], files[0]?.count ?? Pepper.byteCount == Pepper.byteCount else {
            return false
        }
        guard files[0] == nil || files[1] == nil else {
            throw ProgramError(
                "\(pepper(data)) is there already, and is not that of \(old): no API key would open",
                remedy: "move it away first: mv \(pepper(data)) \(pepper(data)).before",
                status: .notFoundOrConflict)
        }
        try BackupCommands.copyPepper(from: old, to: data)
        return files[0] != nil
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

    private static func report(
        _ context: CommandContext, _ count: Int, _ what: String
    ) throws {
        if OutputFormat(context) == .table {
            return try context.terminal.print("\(count) \(what)")
        }
        try context.terminal.print("{\"\(what)\":\(count)}")
    }
}
