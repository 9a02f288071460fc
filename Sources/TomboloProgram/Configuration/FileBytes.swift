import Glibc

/// Reads and writes small files as a whole.
package enum FileBytes {
    /// Maximum size of a configuration, key or state file in bytes. A larger file is the wrong one.
    static let bytesMax = 16 << 20

    /// Returns the whole file. Throws `EFBIG` if it has more than `limit` bytes.
    package static func read(_ path: String, atMost limit: Int = bytesMax) throws(SystemError)
        -> [UInt8]
    {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemError(errno) }
        defer { close(descriptor) }
        return try read(descriptor, atMost: limit)
    }

    /// Like `read`, for a file that the command line names.
    package static func given(
        _ path: String, atMost limit: Int = bytesMax
    ) throws(ProgramError) -> [UInt8] {
        do {
            return try read(path, atMost: limit)
        } catch {
            throw .usage("\(path) cannot be read: \(error)", remedy: "ls -l \(path)")
        }
    }

    /// Reads a whole regular file. Throws if it is not a regular file: reading a pipe, for example,
    /// would block the relay until the pipe has a writer.
    static func readRegular(
        _ path: String, atMost limit: Int = bytesMax
    ) throws(FileFault) -> [UInt8] {
        // With `O_NONBLOCK`, open returns at once, even for a pipe without a writer.
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

    /// The remaining bytes of a descriptor. Throws `EFBIG` if there are more than `limit`.
    package static func read(_ descriptor: Int32, atMost limit: Int) throws(SystemError) -> [UInt8]
    {
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

    /// Creates or replaces a file atomically. Only its owner may read it.
    package static func write(_ bytes: [UInt8], to path: String) throws(SystemError) {
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
        FileOwner.give(descriptor, at: path)
        if close(descriptor) != 0, failure == nil { failure = errno }
        if failure == nil, rename(draft, path) != 0 { failure = errno }
        if let failure {
            unlink(draft)
            throw SystemError(failure)
        }
    }
}

/// Why a configuration file or a file that it names cannot be read.
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

/// A secret in its own file, such as a key that `TOMBOLO_KEY_FILE` or a systemd credential names.
enum SecretFile {
    /// Maximum size of a secret in bytes. A longer text is not a key.
    static let bytesMax = 4096

    /// The file's text without its last line break. An error says that `source` named the file.
    package static func read(_ path: String, named source: String) throws(ProgramError) -> String {
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
