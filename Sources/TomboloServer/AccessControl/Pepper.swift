import Glibc
import TomboloCrypto

/// The relay's own secret: the HMAC key for the codes of API keys. A reader of the log who does not
/// have it cannot test guesses.
package struct Pepper: Sendable {
    package static let fileName = "pepper"
    package static let byteCount = 32

    let bytes: [UInt8]

    /// Makes a random secret, for tests and for relays whose log lives in memory.
    package init() { bytes = RandomBytes.make(Self.byteCount) }

    /// 16 bytes by which a log recognises the same secret. They do not reveal it.
    package var check: [UInt8] {
        Array(HMACSHA256.authenticate(Array("tombolo pepper".utf8), key: bytes).prefix(16))
    }

    /// Reads the file at `path`, or creates it so that only its owner can read it. The file is
    /// created atomically, and two processes that start together use the same one.
    ///
    /// - Parameter keyCount: number of API keys stored with this secret. If it is not 0 and the
    ///   file is missing, throws: the keys would not be valid with a new secret.
    package init(path: String, keyCount: Int) throws(PepperError) {
        if let bytes = try Self.read(path) {
            self.bytes = bytes
            return
        }
        guard keyCount == 0 else {
            throw PepperError(
                path: path, cause: "it is missing, and \(keyCount) API keys were stored under it")
        }
        try Self.make(path)
        guard let bytes = try Self.read(path) else {
            throw PepperError(path: path, cause: "it vanished while it was made")
        }
        self.bytes = bytes
    }

    private static func read(_ path: String) throws(PepperError) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw PepperError(path: path, errno)
        }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: byteCount + 1)
        let count = Glibc.read(descriptor, &buffer, buffer.count)
        guard count >= 0 else { throw PepperError(path: path, errno) }
        guard count == byteCount else {
            throw PepperError(path: path, cause: "it must have \(byteCount) bytes")
        }
        return Array(buffer.prefix(count))
    }

    private static func make(_ path: String) throws(PepperError) {
        let draft = "\(path).\(getpid())"
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw PepperError(path: draft, errno) }
        defer { unlink(draft) }
        let bytes = RandomBytes.make(byteCount)
        let written = write(descriptor, bytes, bytes.count)
        let synced = written == bytes.count && fsync(descriptor) == 0
        let cause = errno
        close(descriptor)
        guard synced else { throw PepperError(path: draft, cause) }
        // `link` never replaces a file. If two processes start together, the first one's file
        // stays, and the other process reads it.
        guard link(draft, path) == 0 || errno == EEXIST else {
            throw PepperError(path: path, errno)
        }
    }
}

/// The file of the pepper cannot be read or created.
package struct PepperError: Error, Hashable, Sendable, CustomStringConvertible {
    package let path: String
    package let cause: String

    init(path: String, cause: String) {
        self.path = path
        self.cause = cause
    }

    init(path: String, _ code: Int32) {
        self.init(path: path, cause: String(cString: strerror(code)))
    }

    package var description: String {
        "\(path): \(cause). The file keeps every API key usable: restore it from a backup, or give "
            + "the relay's user the right to read it. Where it is lost permanently, make another "
            + "(head -c \(Pepper.byteCount) /dev/urandom > \(path)) and create all keys again: those of "
            + "before open nothing any more."
    }
}
