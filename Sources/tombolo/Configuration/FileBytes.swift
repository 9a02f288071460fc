import Glibc

/// Reads and writes whole small files.
enum FileBytes {
    /// A configuration, key or state file beyond this is refused: it is the wrong file.
    static let bytesMax = 16 << 20

    /// The whole of a file, at most `limit` bytes.
    static func read(_ path: String, atMost limit: Int = bytesMax) throws(SystemError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemError(errno) }
        defer { close(descriptor) }
        return try read(descriptor, atMost: limit)
    }

    /// The whole of a regular file. A reader of a pipe waits for its writer, and a relay that reads
    /// its configuration again has no time for that.
    static func readRegular(
        _ path: String, atMost limit: Int = bytesMax
    ) throws(FileFault) -> [UInt8] {
        // A pipe without a writer is opened at once.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw .system(SystemError(errno)) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .system(SystemError(errno)) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notRegular }
        do {
            return try read(descriptor, atMost: limit)
        } catch {
            throw .system(error)
        }
    }

    /// What is left in a descriptor, at most `limit` bytes; more is `EFBIG`.
    static func read(_ descriptor: Int32, atMost limit: Int) throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = Glibc.read(descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw SystemError(errno) }
            guard count > 0 else { return bytes }
            guard bytes.count + count <= limit else { throw SystemError(EFBIG) }
            bytes += piece[..<count]
        }
    }

    /// Makes or replaces a file that only its owner may read, whole or not at all.
    static func write(_ bytes: [UInt8], to path: String) throws(SystemError) {
        let draft = "\(path).\(getpid()).draft"
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SystemError(errno) }
        var failure = bytes.withUnsafeBytes { buffer -> Int32? in
            var rest = buffer[...]
            while !rest.isEmpty {
                let piece = UnsafeRawBufferPointer(rebasing: rest)
                let count = Glibc.write(descriptor, piece.baseAddress, piece.count)
                guard count >= 0 || errno == EINTR else { return errno }
                rest = rest.dropFirst(max(0, count))
            }
            return nil
        }
        if close(descriptor) != 0, failure == nil { failure = errno }
        if failure == nil, rename(draft, path) != 0 { failure = errno }
        if let failure {
            unlink(draft)
            throw SystemError(failure)
        }
    }
}

/// Why a file of the configuration is not read.
enum FileFault: Error, Hashable, Sendable, CustomStringConvertible {
    case system(SystemError)
    case notRegular

    var description: String {
        switch self {
        case .system(let error): error.description
        case .notRegular: "it is no regular file, and a relay waits for no pipe"
        }
    }
}

/// A secret that stands alone in a file: a key that `TOMBOLO_KEY_FILE` or a systemd credential
/// names.
enum SecretFile {
    /// Longer is no key.
    static let bytesMax = 4096

    /// The file's text without the line break at its end. `source` says in the error who named the
    /// file.
    static func read(_ path: String, named source: String) throws(ProgramError) -> String {
        let bytes: [UInt8]
        do {
            bytes = try FileBytes.read(path, atMost: bytesMax)
        } catch {
            throw .usage("\(source)=\(path) cannot be read: \(error)", remedy: "ls -l \(path)")
        }
        let trimmed = bytes.reversed().drop { $0 == 10 || $0 == 13 }.reversed()
        guard !trimmed.isEmpty, let text = String(validating: trimmed, as: UTF8.self) else {
            throw .usage("\(source)=\(path) holds no key", remedy: "cat \(path)")
        }
        return text
    }
}
